"""From the facts of a run to the result that a caller gets."""

from __future__ import annotations

from dataclasses import dataclass

from coderunner import exit_codes
from coderunner.model import EndedBy, Outcome, Output, Result
from coderunner.notebook.model import (
    ErrorType,
    ExecutionError,
    ExecutionResult,
    ResourceLimits,
)
from coderunner.text import head_of

_TYPES = {
    EndedBy.WALL_TIME: ErrorType.TIMEOUT,
    EndedBy.CPU_TIME: ErrorType.TIMEOUT,
    EndedBy.MEMORY: ErrorType.OOM_KILLED,
    EndedBy.OUTPUT: ErrorType.OUTPUT_LIMIT,
    EndedBy.PROCESSES: ErrorType.RUNTIME_ERROR,
    EndedBy.SIGNAL: ErrorType.RUNTIME_ERROR,
    EndedBy.EXIT: ErrorType.RUNTIME_ERROR,
    EndedBy.KILLED: ErrorType.UNKNOWN_EXECUTOR_ERROR,
}
EXECUTOR_FAILED = -1


@dataclass(frozen=True, slots=True)
class Facts:
    """Of one run, wherever it was."""

    ended_by: EndedBy
    exit_code: int
    stdout: Output
    stderr: Output


def facts_of(result: Result) -> Facts:
    outcome: Outcome = result.outcome
    code = exit_codes.of_result(result)
    return Facts(outcome.ended_by, code, outcome.stdout, outcome.stderr)


def concluded(facts: Facts, limits: ResourceLimits, duration_ms: int) -> ExecutionResult:
    """Output that was cut is no failure of the code's, but its reader has to know."""
    most = limits.max_output_bytes
    success = facts.ended_by is EndedBy.EXIT and facts.exit_code == 0
    cut = any(_is_longer(output, most) for output in (facts.stdout, facts.stderr))
    error = None
    if not success:
        error = ExecutionError(type=_TYPES[facts.ended_by], message=_message(facts, limits))
    elif cut:
        error = ExecutionError(type=ErrorType.OUTPUT_LIMIT, message=_too_much(limits))
    return ExecutionResult(
        success=success,
        exit_code=facts.exit_code,
        stdout=head_of(facts.stdout.data, most),
        stderr=head_of(facts.stderr.data, most),
        duration_ms=duration_ms,
        error=error,
    )


def failed(error: Exception, duration_ms: int) -> ExecutionResult:
    """It could not be run: nothing the code has done."""
    hint = getattr(error, "hint", "")
    # docker-py has the daemon's own words there, without the address that was asked.
    message = getattr(error, "explanation", None) or str(error) or type(error).__name__
    message = f"{message} (hint: {hint})" if hint else message
    return ExecutionResult(
        success=False,
        exit_code=EXECUTOR_FAILED,
        stdout="",
        stderr=message,
        duration_ms=duration_ms,
        error=ExecutionError(type=ErrorType.UNKNOWN_EXECUTOR_ERROR, message=message),
    )


def _message(facts: Facts, limits: ResourceLimits) -> str:
    match facts.ended_by:
        case EndedBy.WALL_TIME | EndedBy.CPU_TIME:
            return f"Execution timed out after {limits.timeout_seconds} seconds."
        case EndedBy.MEMORY:
            return "Code execution was killed: it ran out of memory."
        case EndedBy.PROCESSES:
            return "Code execution started too many processes."
        case EndedBy.OUTPUT:
            return _too_much(limits)
        case EndedBy.KILLED:
            return "Code execution was ended from outside."
        case _:
            return f"Code execution failed with exit code {facts.exit_code}."


def _too_much(limits: ResourceLimits) -> str:
    return f"Output was cut: there was more than {limits.max_output_bytes} bytes of it."


def _is_longer(output: Output, most: int) -> bool:
    return output.dropped > 0 or len(output.head) > most
