"""Interleaved measurement: every round runs every contender once, in an order of its own.

Whatever disturbs the machine for a while (a build next door, a kernel thread that still clears
away the last network namespace) then hits all contenders alike, and no one always runs in the
wake of the same neighbour. The orders come from a fixed seed, so that every bench does the same.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

_SEED = 20_240_229

Once = Callable[[], Awaitable[None]]
"""One run from start to reaped end, output included. Raises if it did not do what it should."""


@dataclass
class Track:
    """What one contender did in one row: its times in ms, and why it stopped if it failed."""

    times_ms: list[float] = field(default_factory=list)
    failure: str = ""


@dataclass(frozen=True)
class Figures:
    count: int
    least: float
    p50: float
    p95: float
    p99: float


async def interleave(
    contenders: Mapping[str, Once], *, rounds: int, warmups: int, tick: Callable[[], None]
) -> dict[str, Track]:
    """Run all contenders `warmups + rounds` times; the warm-up rounds leave no trace. Who fails
    once is out, and the others go on."""
    tracks = {name: Track() for name in contenders}
    shuffle = random.Random(_SEED).shuffle
    for number in range(warmups + rounds):
        order = list(contenders)
        shuffle(order)
        for name in order:
            if not tracks[name].failure:
                await _measure(contenders[name], tracks[name], keep=number >= warmups)
            tick()
    return tracks


async def _measure(once: Once, track: Track, *, keep: bool) -> None:
    began = time.perf_counter()
    try:
        await once()
    except Exception as error:
        track.failure = f"{type(error).__name__}: {error}"
        return
    if keep:
        track.times_ms.append((time.perf_counter() - began) * 1000)


def figures(times_ms: Sequence[float]) -> Figures:
    ordered = sorted(times_ms)
    return Figures(
        count=len(ordered),
        least=ordered[0],
        p50=percentile(ordered, 50),
        p95=percentile(ordered, 95),
        p99=percentile(ordered, 99),
    )


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Nearest rank: a time that was really measured. With few rounds p99 is the slowest one."""
    rank = math.ceil(percent / 100 * len(ordered))
    return ordered[max(rank, 1) - 1]
