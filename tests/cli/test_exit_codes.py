"""How an end becomes a number: the whole table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coderunner import errors
from coderunner.cli import exit_codes, failures
from coderunner.cli.interrupts import Interrupted
from coderunner.cli.messages import problem
from coderunner.cli.streams import CannotWrite
from coderunner.model import EndedBy, Isolation, Limits, Outcome, Output, Result, Usage

pytestmark = pytest.mark.unit

CODES = {
    EndedBy.EXIT: 0,
    EndedBy.SIGNAL: 139,
    EndedBy.WALL_TIME: 124,
    EndedBy.CPU_TIME: 124,
    EndedBy.MEMORY: 137,
    EndedBy.PROCESSES: 125,
    EndedBy.OUTPUT: 125,
    EndedBy.KILLED: 137,
}


def outcome(ended_by: EndedBy, code: int = 0) -> Outcome:
    return Outcome(
        ended_by=ended_by,
        exit_code=code if ended_by is EndedBy.EXIT else None,
        signal=11 if ended_by is EndedBy.SIGNAL else None,
        usage=Usage(1.0, 1.0, 1),
        stdout=Output(),
        stderr=Output(),
        isolation=Isolation.FULL,
        engine="fake",
    )


@pytest.mark.parametrize("ended_by", EndedBy)
def test_a_run(ended_by: EndedBy) -> None:
    assert exit_codes.of_result(Result(None, outcome(ended_by))) == CODES[ended_by]


@pytest.mark.parametrize("code", [0, 1, 2, 3, 42, 124, 255])
def test_a_program_that_exits_keeps_its_code(code: int) -> None:
    compiled = outcome(EndedBy.EXIT)
    assert exit_codes.of_result(Result(compiled, outcome(EndedBy.EXIT, code))) == code


@pytest.mark.parametrize("ended_by", EndedBy)
def test_a_compilation_that_failed(ended_by: EndedBy) -> None:
    by_itself = ended_by in (EndedBy.EXIT, EndedBy.SIGNAL)
    expected = 1 if by_itself else CODES[ended_by]
    assert exit_codes.of_result(Result(outcome(ended_by, 1), None)) == expected


@pytest.mark.parametrize("ended_by", sorted({*EndedBy} - {EndedBy.EXIT}))
def test_an_end_the_program_cannot_explain_is_explained(ended_by: EndedBy) -> None:
    limits = replace(Limits(), cpu_ms=500)
    for result in (Result(None, outcome(ended_by)), Result(outcome(ended_by), None)):
        said = problem(result, limits, limits)
        assert said is not None
        assert said[0]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InvalidInput("x"), 2),
        (errors.InvalidProgram("x"), 2),
        (errors.InvalidLimits("x"), 2),
        (errors.UnknownLanguage("x"), 2),
        (errors.InvalidLanguageFile("x"), 2),
        (errors.ToolchainMissing("x"), 3),
        (errors.EngineUnavailable("x"), 3),
        (errors.IsolationTooLow("x"), 3),
        (errors.StartFailed("x"), 126),
        (Interrupted(2), 130),
        (Interrupted(15), 143),
        (CannotWrite("x"), 74),
        (ZeroDivisionError("x"), 70),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_errors(error: Exception, code: int) -> None:
    assert failures.of(error).exit_code == code
