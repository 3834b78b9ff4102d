"""What the facts of a run mean to a judge. Made here and nowhere else."""

from __future__ import annotations

import signal
from enum import StrEnum

from coderunner.model import EndedBy, Limits, Outcome

_LONGEST_MESSAGE = 4000  # characters of what a program says of its own failure


class Verdict(StrEnum):
    """What became of one test, or of a whole submission."""

    ACCEPTED = "accepted"
    WRONG_ANSWER = "wrong_answer"
    TIME_LIMIT = "time_limit_exceeded"
    MEMORY_LIMIT = "memory_limit_exceeded"
    OUTPUT_LIMIT = "output_limit_exceeded"
    RUN_TIME_ERROR = "run_time_error"
    COMPILE_ERROR = "compile_error"
    JUDGE_ERROR = "judge_error"  # a checker or an interactor failed: nobody's verdict
    SKIPPED = "skipped"  # an earlier test had settled it


_OF_ENDING = {
    EndedBy.SIGNAL: Verdict.RUN_TIME_ERROR,
    EndedBy.WALL_TIME: Verdict.TIME_LIMIT,
    EndedBy.CPU_TIME: Verdict.TIME_LIMIT,
    EndedBy.MEMORY: Verdict.MEMORY_LIMIT,
    EndedBy.PROCESSES: Verdict.RUN_TIME_ERROR,
    EndedBy.OUTPUT: Verdict.OUTPUT_LIMIT,
    EndedBy.KILLED: Verdict.JUDGE_ERROR,  # we ended it ourselves, before it could be judged
}


def of_run(outcome: Outcome) -> Verdict | None:
    """None: it ran to its end, so that what it printed decides."""
    if outcome.ended_by is EndedBy.EXIT:
        return None if outcome.exit_code == 0 else Verdict.RUN_TIME_ERROR
    return _OF_ENDING[outcome.ended_by]


def in_words(outcome: Outcome, limits: Limits) -> str:
    """Why a run was no good, for the author of the program."""
    if outcome.ended_by in (EndedBy.EXIT, EndedBy.SIGNAL):
        said = outcome.stderr.text.strip()
        return shortened(said, _LONGEST_MESSAGE) if said else ending(outcome)
    return ending(outcome, limits)


def ending(outcome: Outcome, limits: Limits | None = None) -> str:
    """The same without anything that the program said."""
    match outcome.ended_by:
        case EndedBy.EXIT:
            return f"Exit code: {outcome.exit_code}"
        case EndedBy.SIGNAL:
            return f"Ended by signal {_signal(outcome.signal or 0)}"
        case EndedBy.WALL_TIME | EndedBy.CPU_TIME:
            return "Test execution timed out"
        case EndedBy.MEMORY:
            return "Memory limit exceeded" + (f" ({limits.memory_mb} MB)" if limits else "")
        case EndedBy.PROCESSES:
            return "Too many processes" + (f" (more than {limits.processes})" if limits else "")
        case EndedBy.OUTPUT:
            kilobytes = f" ({limits.flood_bytes // 1024} KB)" if limits else ""
            return f"Output limit exceeded{kilobytes}"
        case _:
            return "Ended by the judge"


def shortened(text: str, most: int) -> str:
    """A long text without its middle: a traceback has its point at the end."""
    if len(text) <= most:
        return text
    left_out = len(text) - most
    return f"{text[: most // 2]}\n[{left_out} characters left out]\n{text[-(most - most // 2) :]}"


def _signal(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:  # a real-time signal
        return str(number)
