"""Requests and results as JSON, there and back, and the schema they keep to."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderunner.errors import InvalidInput
from coderunner.judge import (
    Checker,
    CheckerProgram,
    Convention,
    Exact,
    ExecutionError,
    ExecutionRequest,
    ExecutionResult,
    ExecutionStatus,
    GroupResult,
    IgnoreCase,
    Interactor,
    Language,
    Normalized,
    Regex,
    TestCase,
    TestGroup,
    TestResult,
    TestStatus,
    Tokens,
    UnorderedLines,
    Verdict,
)
from coderunner.judge.as_json import schema_text
from scripts.schemas import SCHEMAS
from tests.judge.asking import request
from tests.support import ROOT

pytestmark = pytest.mark.unit

CHECKERS: list[Checker] = [
    Normalized(),
    Exact(),
    IgnoreCase(),
    UnorderedLines(),
    Tokens(float_absolute_tolerance=1e-6),
    Regex("a+", ignore_case=True),
    CheckerProgram("code", "python", Convention.TESTLIB, ("-x",), {"a.h": "text"}),
]


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda checker: checker.kind)
def test_a_request_comes_back_as_it_was(checker: Checker) -> None:
    asked = request(
        "print('ä')",
        TestCase("a", "1", "2", True, 500, "text", "g", 2.5),
        language="c++",
        groups=[TestGroup("g", 10)],
        checker=checker,
        interactor=Interactor("code", "c"),
        metadata={"any": [1, None, {"deep": True}]},
    )
    again = ExecutionRequest.from_json(asked.to_json())
    assert again == asked
    assert again.language is Language.CPP


def test_a_short_request_is_enough() -> None:
    text = (
        '{"request_id": "1", "code": "x", "language": "python",'
        ' "test_cases": [{"id": "a", "input": "", "expected_output": ""}]}'
    )
    asked = ExecutionRequest.from_json(text)
    assert asked == ExecutionRequest("1", "x", Language.PYTHON, [TestCase("a", "", "")])
    assert (asked.memory_limit_mb, asked.cpu_limit, asked.checker) == (256, 1.0, Normalized())


def test_a_checker_may_be_named_in_a_word() -> None:
    text = request("x").to_json().replace('{"kind":"normalized"}', '"tokens"')
    assert ExecutionRequest.from_json(text).checker == Tokens()


def test_a_language_that_nobody_knows_is_for_the_judge_to_refuse() -> None:
    text = request("x").to_json().replace('"python"', '"cobol"')
    assert ExecutionRequest.from_json(text).language == "cobol"


def test_a_result_comes_back_as_it_was() -> None:
    test = TestResult("a", TestStatus.PASSED, "ä\0", "�", 1, 2, None, 0.5, Verdict.ACCEPTED)
    error = ExecutionError("CODE", "message", "stage", None)
    groups = [GroupResult("g", Verdict.WRONG_ANSWER, 1.5, 2)]
    result = ExecutionResult(
        "r", ExecutionStatus.ALL_FAILED, [test], 5, "said", "summary", error, 7, 1.5, 2, groups
    )
    assert ExecutionResult.from_json(result.to_json()) == result
    assert set(json.loads(result.to_json())) == {field.name for field in fields(ExecutionResult)}


@given(text=st.text())
def test_every_text_survives(text: str) -> None:
    asked = request(text, TestCase("a", text, text))
    assert ExecutionRequest.from_json(asked.to_json()) == asked


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"code":', '"cod":'), "code: Field required"),
        (('"timeout_ms":5000', '"timeout_ms":"soon"'), "timeout_ms: Input should be a valid int"),
        (('"cpu_limit":1.0', '"cpu_limit":1.0,"cpus":2'), "cpus: Unexpected"),
        (('"id":"t1"', '"id":"t1","inputs":"x"'), "test_cases.0.inputs: Unexpected"),
        (('"normalized"', '"fuzzy"'), "checker: "),
        (("}", ""), "Invalid JSON"),
    ],
)
def test_what_does_not_belong_there_is_named(change: tuple[str, str], message: str) -> None:
    text = request("x").to_json().replace(*change, 1)
    with pytest.raises(InvalidInput, match="this is no ExecutionRequest") as caught:
        ExecutionRequest.from_json(text)
    assert message in caught.value.message


@pytest.mark.parametrize(("name", "kind"), SCHEMAS.items())
def test_the_published_schema_is_that_of_the_code(name: str, kind: type) -> None:
    """After a change: `python scripts/schemas.py` writes it anew."""
    assert (ROOT / f"docs/schemas/{name}.json").read_text() == schema_text(kind)
