"""The command line's vocabulary for how things ended: one small mapping, shown in `run --help`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coderunner.errors import CodeRunnerError, InvalidInput, StartFailed
from coderunner.model import EndedBy, Outcome, Result

if TYPE_CHECKING:
    from coderunner.judge.problem.report import Report

DID_NOT_COMPILE = 1
NOT_AS_EXPECTED = 1  # of a judged submission
USAGE = 2  # the command line, a file name, a limit: what was asked for makes no sense
CANNOT_RUN_HERE = 3  # no usable engine, too little isolation, no toolchain
INTERNAL = 70  # EX_SOFTWARE: a bug of ours
CANNOT_WRITE = 74  # EX_IOERR: stdout cannot take the output (a full disk)
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
    """The program's own code, or what stands for its end."""
    if outcome.ended_by is EndedBy.EXIT:
        return outcome.exit_code or 0
    if outcome.ended_by is EndedBy.SIGNAL:
        return of_signal(outcome.signal or 0)
    return _LIMITS[outcome.ended_by]


def of_result(result: Result) -> int:
    if result.execution is not None:
        return of_run(result.execution)
    return _LIMITS.get(result.outcome.ended_by, DID_NOT_COMPILE)


def of_report(report: Report) -> int:
    """Of all submissions that were judged."""
    if report.not_good:
        return NOT_AS_EXPECTED
    return CANNOT_RUN_HERE if report.not_judged else 0


def of_error(error: CodeRunnerError) -> int:
    if isinstance(error, InvalidInput):
        return USAGE
    return NOT_STARTED if isinstance(error, StartFailed) else CANNOT_RUN_HERE
