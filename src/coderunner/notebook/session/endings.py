"""What is said of a kernel that is no more."""

from __future__ import annotations

from coderunner.errors import CodeRunnerError
from coderunner.model import EndedBy, Limits, Outcome
from coderunner.notebook.model import ErrorType
from coderunner.notebook.session.result import CellError

RESTART = "restart() starts a new one"


def of_outcome(outcome: Outcome, limits: Limits) -> CellError:
    match outcome.ended_by:
        case EndedBy.MEMORY:
            said = f"memory limit of {limits.memory_mb} MB exceeded"
            return dead(ErrorType.OOM_KILLED, said)
        case EndedBy.WALL_TIME:
            return dead(ErrorType.TIMEOUT, "the session has reached the end of its life")
        case EndedBy.CPU_TIME:
            return dead(ErrorType.TIMEOUT, "the session has used up its cpu time")
        case EndedBy.PROCESSES:
            said = f"limit of {limits.processes} processes exceeded"
            return dead(ErrorType.RUNTIME_ERROR, said)
        case EndedBy.SIGNAL:
            return dead(ErrorType.RUNTIME_ERROR, f"the interpreter died of signal {outcome.signal}")
        case EndedBy.EXIT:
            said = f"the interpreter exited with code {outcome.exit_code}"
            return dead(ErrorType.RUNTIME_ERROR, said)
        case _:
            return dead(ErrorType.UNKNOWN_EXECUTOR_ERROR, "the interpreter was ended from outside")


def of_failure(error: BaseException) -> CellError:
    """The machinery's, not the code's; or a box that did not keep to the rules."""
    hint = f" (hint: {error.hint})" if isinstance(error, CodeRunnerError) and error.hint else ""
    return dead(ErrorType.UNKNOWN_EXECUTOR_ERROR, f"{str(error) or type(error).__name__}{hint}")


def dead(kind: ErrorType, why: str) -> CellError:
    return CellError(type=kind, message=f"The session is dead: {why}; {RESTART}.")
