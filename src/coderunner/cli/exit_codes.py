"""The command line's vocabulary for how things ended: what `exit_codes` says of runs, and what else
there is. Shown in `run --help`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coderunner.errors import CodeRunnerError, InvalidInput, StartFailed
from coderunner.exit_codes import NOT_STARTED, of_result, of_signal

if TYPE_CHECKING:
    from coderunner.judge.problem.report import Report

__all__ = ["of_error", "of_report", "of_result", "of_signal"]

NOT_AS_EXPECTED = 1  # of a judged submission
USAGE = 2  # the command line, a file name, a limit: what was asked for makes no sense
CANNOT_RUN_HERE = 3  # no usable engine, too little isolation, no toolchain
INTERNAL = 70  # EX_SOFTWARE: a bug of ours
CANNOT_WRITE = 74  # EX_IOERR: stdout cannot take the output (a full disk)


def of_report(report: Report) -> int:
    """Of all submissions that were judged."""
    if report.not_good:
        return NOT_AS_EXPECTED
    return CANNOT_RUN_HERE if report.not_judged else 0


def of_error(error: CodeRunnerError) -> int:
    if isinstance(error, InvalidInput):
        return USAGE
    return NOT_STARTED if isinstance(error, StartFailed) else CANNOT_RUN_HERE
