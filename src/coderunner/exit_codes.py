"""How a run ended, as the one number that shells and callers of processes know."""

from __future__ import annotations

from coderunner.model import EndedBy, Outcome, Result

DID_NOT_COMPILE = 1
TIME = 124  # as timeout(1) does
OTHER_LIMIT = 125  # output, processes
NOT_STARTED = 126  # as a shell does
MEMORY = 137  # as a container's out-of-memory kill does
_SIGNAL = 128  # and its number on top, as a shell does

_LIMITS = {
    EndedBy.WALL_TIME: TIME,
    EndedBy.CPU_TIME: TIME,
    EndedBy.MEMORY: MEMORY,
    EndedBy.PROCESSES: OTHER_LIMIT,
    EndedBy.OUTPUT: OTHER_LIMIT,
    EndedBy.KILLED: _SIGNAL + 9,
}


def of_signal(number: int) -> int:
    return _SIGNAL + number


def of_run(outcome: Outcome) -> int:
    return of_ending(outcome.ended_by, outcome.exit_code, outcome.signal)


def of_ending(ended_by: EndedBy, exit_code: int | None, signal: int | None) -> int:
    """The program's own code, or what stands for its end."""
    if ended_by is EndedBy.EXIT:
        return exit_code or 0
    if ended_by is EndedBy.SIGNAL:
        return of_signal(signal or 0)
    return _LIMITS[ended_by]


def of_result(result: Result) -> int:
    if result.execution is not None:
        return of_run(result.execution)
    return _LIMITS.get(result.outcome.ended_by, DID_NOT_COMPILE)
