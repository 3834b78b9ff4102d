"""What the clocks saw: stamps from the caller, the spawner and the boxes, and their sums."""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import probe

Steps = tuple[str, ...]  # a function, below those that called it


@dataclass(frozen=True, slots=True)
class Stamp:
    name: str
    begin: bool
    at_ns: int


class Memory:
    """Our view of what the probe writes."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(probe.SIZE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), probe.SIZE)

    def take_spawner(self) -> list[Stamp]:
        """The spawner's stamps since the last call."""
        stamps = self._stamps(probe.SPAWNER)
        probe.COUNT.pack_into(self._map, probe.SPAWNER * probe.LANE, 0)
        return stamps

    def boxes(self) -> list[list[Stamp]]:
        """The stamps of the last boxes that were made, each from its birth on."""
        return [self._stamps(lane) for lane in range(probe.FIRST_BOX, probe.LANES)]

    def _stamps(self, lane: int) -> list[Stamp]:
        names = self._names()
        base = lane * probe.LANE
        (count,) = probe.COUNT.unpack_from(self._map, base)
        first = base + probe.COUNT.size
        data = self._map[first : first + count * probe.STAMP.size]
        return [Stamp(names[i], bool(b), at) for i, b, at in probe.STAMP.iter_unpack(data)]

    def _names(self) -> list[str]:
        (length,) = probe.COUNT.unpack_from(self._map, probe.NAMES_AT)
        start = probe.NAMES_AT + probe.COUNT.size
        return self._map[start : start + length].decode().split("\n")


class CallerClock:
    """The same for the caller's side, where a list will do."""

    def __init__(self) -> None:
        self.stamps: list[Stamp] = []

    def mark(self, name: str, begin: bool) -> None:
        self.stamps.append(Stamp(name, begin, time.monotonic_ns()))

    def wrap(self, owner: type, name: str) -> None:
        function: Callable[..., Any] = getattr(owner, name)

        def clocked(*args: Any) -> Any:
            self.mark(name, True)
            try:
                return function(*args)
            finally:
                self.mark(name, False)

        setattr(owner, name, clocked)


def time_of(stamps: Iterable[Stamp], name: str, begin: bool) -> int | None:
    """When a function was first entered, or left."""
    return next((s.at_ns for s in stamps if s.name == name and s.begin is begin), None)


def between(stamps: Iterable[Stamp], first_ns: int, last_ns: int) -> list[Stamp]:
    return [stamp for stamp in stamps if first_ns <= stamp.at_ns <= last_ns]


def tree(stamps: Sequence[Stamp]) -> dict[Steps, tuple[int, int]]:
    """How long each step took, with all that it called: path of names -> (ns, calls). A step that
    never returned, since the process ended in it, lasted until the last stamp."""
    totals: dict[Steps, tuple[int, int]] = {}
    open_steps: list[Stamp] = []
    for stamp in stamps:
        if stamp.begin:
            open_steps.append(stamp)
            totals.setdefault(tuple(step.name for step in open_steps), (0, 0))
        elif open_steps and open_steps[-1].name == stamp.name:
            path = tuple(step.name for step in open_steps)
            took, calls = totals[path]
            totals[path] = took + stamp.at_ns - open_steps.pop().at_ns, calls + 1
    while open_steps:
        path = tuple(step.name for step in open_steps)
        totals[path] = stamps[-1].at_ns - open_steps.pop().at_ns, 1
    return totals
