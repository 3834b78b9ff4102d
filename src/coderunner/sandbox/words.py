"""What is said of limits that were hit, below what the program wrote to stderr itself."""

from __future__ import annotations

from collections.abc import Callable

from coderunner.model import MIB, EndedBy, Limits


def _memory(limits: Limits) -> str:
    if limits.address_space_mb is None:
        return f"memory limit of {limits.memory_mb} MB exceeded"
    most = f"{limits.memory_mb} MB, or of {limits.address_space_mb} MB of address space,"
    return f"memory limit of {most} exceeded"


_OF_ENDING: dict[EndedBy, Callable[[Limits], str]] = {
    EndedBy.WALL_TIME: lambda limits: f"time limit of {limits.wall_ms / 1000:g} s exceeded",
    EndedBy.CPU_TIME: lambda limits: (
        f"cpu time limit of {(limits.cpu_ms or 0) / 1000:g} s exceeded"
    ),
    EndedBy.MEMORY: _memory,
    EndedBy.PROCESSES: lambda limits: f"limit of {limits.processes} processes exceeded",
    EndedBy.OUTPUT: lambda limits: f"ended after {limits.flood_bytes // MIB} MB of output",
    EndedBy.KILLED: lambda limits: "ended by the sandbox",
}


def notes(ended_by: EndedBy, limits: Limits, *, truncated_at: int | None) -> list[str]:
    """One line for each limit that was hit."""
    said = [] if truncated_at is None else [f"output truncated at {truncated_at} bytes"]
    of_ending = of_limit(ended_by, limits)
    return [*said, of_ending] if of_ending else said


def of_limit(ended_by: EndedBy, limits: Limits) -> str:
    """Nothing, if it was no limit that ended a run."""
    words = _OF_ENDING.get(ended_by)
    return words(limits) if words else ""


def with_notes(stderr: str, notes: list[str]) -> str:
    if not notes:
        return stderr
    between = "\n" if stderr and not stderr.endswith("\n") else ""
    return stderr + between + "".join(f"{note}\n" for note in notes)
