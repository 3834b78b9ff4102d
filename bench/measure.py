"""Measurement in turns: contenders are never measured one after the other, but all together.

Whatever disturbs the machine for a while (a build next door, a kernel thread that still clears
away the last network namespace) then hits all contenders alike, and no one always runs in the
wake of the same neighbour. The orders come from a fixed seed, so that every bench does the same.

`interleave` takes the time of single runs: every round runs every contender once. `sustain` keeps
several runs going at once for a slice of time, and then it is the next one's turn.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_SEED = 20_240_229

Once = Callable[[], Awaitable[bool]]
"""One run from start to reaped end, output included; True if it was in a warm interpreter. Raises
if it did not do what it should."""


@dataclass
class Track:
    """What one contender did in one row: its times in ms, and why it stopped if it failed."""

    times_ms: list[float] = field(default_factory=list)
    warm: int = 0  # how many of them were in a warm interpreter
    seconds: float = 0.0  # in which they were all done, if that was what to measure
    failure: str = ""

    @property
    def per_second(self) -> float | None:
        return len(self.times_ms) / self.seconds if self.seconds else None


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
    for number, order in enumerate(_orders(contenders, warmups + rounds)):
        for name in order:
            if not tracks[name].failure:
                await _measure(contenders[name], tracks[name], keep=number >= warmups)
            tick()
    return tracks


async def sustain(
    contenders: Mapping[str, Once],
    *,
    parallel: int,
    slices: int,
    seconds: float,
    tick: Callable[[], None],
) -> dict[str, Track]:
    """Keep `parallel` runs of one contender going for `seconds`, then of the next, and so on,
    `slices` times. The first slice is a short one and leaves no trace."""
    tracks = {name: Track() for name in contenders}
    for number, order in enumerate(_orders(contenders, slices + 1)):
        for name in order:
            if not tracks[name].failure:
                track, length = (tracks[name], seconds) if number else (Track(), seconds / 4)
                await _slice(contenders[name], track, parallel, length)
                tracks[name].failure = track.failure
            tick()
    return tracks


async def _slice(once: Once, track: Track, parallel: int, seconds: float) -> None:
    began = time.perf_counter()

    async def worker() -> None:
        """At least one run, however short the slice."""
        await _measure(once, track, keep=True)
        while time.perf_counter() - began < seconds and not track.failure:
            await _measure(once, track, keep=True)

    await asyncio.gather(*(worker() for _ in range(parallel)))
    track.seconds += time.perf_counter() - began  # until the last one ended, not a moment less


def _orders(names: Mapping[str, Once], rounds: int) -> Iterator[list[str]]:
    shuffle = random.Random(_SEED).shuffle
    for _ in range(rounds):
        order = list(names)
        shuffle(order)
        yield order


async def _measure(once: Once, track: Track, *, keep: bool) -> None:
    began = time.perf_counter()
    try:
        warm = await once()
    except Exception as error:
        track.failure = f"{type(error).__name__}: {error}"
        return
    if keep:
        track.times_ms.append((time.perf_counter() - began) * 1000)
        track.warm += warm


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
