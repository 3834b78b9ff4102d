"""What the clocks saw: stamps of the caller, the spawner, the boxes and the programs, and sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.probe import Stamp

Steps = tuple[str, ...]  # a function, below those that called it
# A station of a road: who is there, when it is reached (something begins, or ends), and what has
# happened on the way to it. What a machine does not have (a cgroup, Landlock) is left out.
Station = tuple[str, str, bool, str]


def stations(stamps: Sequence[Stamp], road: Iterable[Station]) -> dict[Station, int]:
    """The stations that were passed, in order, with their time."""
    passed: dict[Station, int] = {}
    since = 0
    for station in road:
        times = (stamp.at_ns for stamp in stamps if stamp[:3] == station[:3])
        at_ns = next((at_ns for at_ns in times if at_ns >= since), None)
        if at_ns is not None:
            passed[station] = since = at_ns
    return passed


def between(stamps: Iterable[Stamp], first_ns: int, last_ns: int) -> list[Stamp]:
    return [stamp for stamp in stamps if first_ns <= stamp.at_ns < last_ns]


def tree(stamps: Sequence[Stamp]) -> dict[Steps, tuple[int, int]]:
    """How long each step took, with all that it called: path of names -> (ns, calls). What did not
    end within the stamps is left out, with what called it."""
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
    return {path: total for path, total in totals.items() if total[1]}
