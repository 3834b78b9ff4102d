"""Bad requests of every kind: a result that says what is wrong, and nothing is run."""

from __future__ import annotations

import math
from typing import Any

import pytest

from coderunner import Runner
from coderunner.engines.fake import FakeEngine
from coderunner.errors import UnknownLanguage
from coderunner.judge import (
    CheckerProgram,
    CodeRunner,
    ExecutionRequest,
    ExecutionResult,
    ExecutionStatus,
    Interactor,
    Language,
    TestCase,
    TestGroup,
)
from coderunner.judge.validation import problem
from tests.judge.asking import request

pytestmark = pytest.mark.unit

HALF = "\ud800"  # half a character: no text


async def refused(asked: ExecutionRequest, **runner: Any) -> ExecutionResult:
    engine = FakeEngine()
    async with Runner(engine) as own:
        result = await CodeRunner(runner=own, **runner).execute(asked)
    assert engine.jobs == []
    assert result.status is ExecutionStatus.SANDBOX_ERROR
    assert result.test_results == []
    assert result.error_info is not None
    assert result.error_info.stage == "validation"
    assert result.request_id == "ask"
    return result


async def test_the_result_says_so() -> None:
    result = await refused(request("print(1)", memory_limit_mb=15))
    assert result.error_info is not None
    assert result.error_info.code == "VALIDATION_ERROR"
    assert result.error_info.message == "Invalid memory limit: 15MB"
    assert result.summary == "Validation error: Invalid memory limit: 15MB"
    assert result.compilation_output is None


@pytest.mark.parametrize("language", ["cobol", "", "c++++", "../python", None, 7])
async def test_an_unknown_language(language: Any) -> None:
    result = await refused(request("print(1)", language=language))
    assert result.error_info is not None
    assert result.error_info.code == "UNSUPPORTED_LANGUAGE"
    assert result.error_info.message == f"Language {language} is not supported"
    assert result.summary.startswith("Unsupported language: ")


async def test_images_name_the_languages_that_may_be_used() -> None:
    only = {Language.PYTHON: "python:3.11-slim"}
    result = await refused(request("int main(){}", language="c"), images=only)
    assert result.error_info is not None
    assert result.error_info.code == "UNSUPPORTED_LANGUAGE"
    assert result.error_info.details == "there are python"


async def test_images_may_call_a_language_by_its_name() -> None:
    assert CodeRunner(images={"c++": "gcc:12"}).images == {Language.CPP: "gcc:12"}
    with pytest.raises(UnknownLanguage) as caught:
        CodeRunner(images={"pyhton": "python:3.11-slim"})
    assert "did you mean python" in caught.value.hint


async def test_a_bad_request_in_an_unknown_language_is_a_bad_request() -> None:
    result = await refused(request("", language="cobol"))
    assert result.error_info is not None
    assert result.error_info.message == "Empty code"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"code": ""}, "Empty code"),
        ({"code": " \n\t\0"}, "Empty code"),
        ({"code": None}, "Code must be text"),
        ({"code": b"print(1)"}, "Code must be text"),
        ({"code": f"print('{HALF}')"}, "the code holds half a character"),
        ({"test_cases": []}, "No test cases provided"),
        ({"test_cases": None}, "No test cases provided"),
        ({"test_cases": "abc"}, "must be a list of TestCase"),
        ({"test_cases": [{"id": "1"}]}, "must be a list of TestCase"),
        ({"test_cases": [TestCase("", "", "")]}, "Invalid id of a test case"),
        ({"test_cases": [TestCase("a", "", ""), TestCase("a", "", "")]}, "Two test cases"),
        ({"test_cases": [TestCase("a", 5, "")]}, "Invalid input of test case 'a'"),  # type: ignore[arg-type]
        ({"test_cases": [TestCase("a", "", None)]}, "Invalid expected_output"),  # type: ignore[arg-type]
        ({"test_cases": [TestCase("a", HALF, "")]}, "half a character"),
        ({"test_cases": [TestCase("a", "", "", timeout_ms=99)]}, "Invalid timeout of test case"),
        ({"test_cases": [TestCase("a", "", "", timeout_ms=0)]}, "Invalid timeout of test case"),
        ({"test_cases": [TestCase("a", "", "", points=-1)]}, "Invalid points"),
        ({"memory_limit_mb": 15}, "Invalid memory limit: 15MB"),
        ({"memory_limit_mb": 1025}, "Invalid memory limit: 1025MB"),
        ({"memory_limit_mb": -1}, "Invalid memory limit: -1MB"),
        ({"memory_limit_mb": 256.5}, "Invalid memory limit: 256.5MB"),
        ({"memory_limit_mb": True}, "Invalid memory limit: TrueMB"),
        ({"memory_limit_mb": None}, "Invalid memory limit: NoneMB"),
        ({"memory_limit_mb": "256"}, "Invalid memory limit: '256'MB"),
        ({"timeout_ms": 99}, "Invalid timeout: 99ms"),
        ({"timeout_ms": 60_001}, "Invalid timeout: 60001ms"),
        ({"timeout_ms": math.nan}, "Invalid timeout: nanms"),
        ({"total_timeout_ms": 0}, "Invalid total timeout: 0ms"),
        ({"total_timeout_ms": 10**12}, "Invalid total timeout"),
        ({"cpu_limit": 0}, "Invalid cpu limit: 0"),
        ({"cpu_limit": -0.5}, "Invalid cpu limit: -0.5"),
        ({"cpu_limit": math.nan}, "Invalid cpu limit: nan"),
        ({"cpu_limit": math.inf}, "Invalid cpu limit: inf"),
        ({"cpu_limit": 1e308}, "Invalid cpu limit: 1e+308"),
        ({"test_cases": [TestCase("a", "", "", points=1e308)]}, "Invalid points"),
        ({"groups": [TestGroup("g", 1e308)]}, "Invalid points of group 'g'"),
        ({"parallel": 0}, "Invalid parallel: 0"),
        ({"parallel": 1.5}, "Invalid parallel: 1.5"),
        ({"output_limit_kb": 0}, "Invalid output_limit_kb: 0"),
        ({"keep_output_kb": -3}, "Invalid keep_output_kb: -3"),
        ({"groups": [TestGroup("g", math.nan)]}, "Invalid points of group 'g'"),
        ({"groups": [TestGroup("g", 1), TestGroup("g", 2)]}, "in no group"),
        ({"groups": ["g"]}, "Every group must be a TestGroup"),
        ({"groups": None}, "Every group must be a TestGroup"),
        ({"groups": 5}, "Every group must be a TestGroup"),
        ({"groups": [TestGroup("", 1)]}, "Invalid id of a group: ''"),
        ({"groups": [TestGroup([], 1)]}, "Invalid id of a group: []"),  # type: ignore[arg-type]
        ({"test_cases": [TestCase("a", "", "", group=[])]}, "Invalid group of test case 'a'"),  # type: ignore[arg-type]
        ({"test_cases": [TestCase("a", "", "", description=5)]}, "Invalid description"),  # type: ignore[arg-type]
        ({"test_cases": [TestCase("a", "", "", is_hidden=None)]}, "Invalid is_hidden"),  # type: ignore[arg-type]
        ({"test_cases": [TestCase("a", "", "", is_hidden="false")]}, "Invalid is_hidden"),  # type: ignore[arg-type]
        ({"request_id": 5}, "Invalid request_id"),
        ({"metadata": None}, "Invalid metadata"),
        ({"stop_on_failure": "no"}, "Invalid stop_on_failure"),
        ({"checker": None}, "Invalid checker: None"),
        ({"checker": "tokens"}, "Invalid checker: 'tokens'"),
        ({"checker": Interactor("x", "python")}, "Invalid checker: Interactor"),
        ({"interactor": "x"}, "Invalid interactor: 'x'"),
        ({"test_cases": [TestCase("a", "", "", group="g")]}, "'g', which does not exist"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], message: str) -> None:
    asked = request("print(1)")
    for name, value in fields.items():
        setattr(asked, name, value)
    assert message in problem(asked)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"code": None}, "Invalid code of the {}: None"),
        ({"language": []}, "Invalid language of the {}: []"),
        ({"convention": "polygon"}, "Invalid convention of the {}: 'polygon'"),
        ({"args": "-v"}, "Invalid args of the {}: '-v'"),
        ({"args": (5,)}, "Invalid args or files of the {}"),
        ({"files": ["a"]}, "Invalid files of the {}"),
        ({"files": {"a": b""}}, "Invalid args or files of the {}"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "name"), [(CheckerProgram, "checker"), (Interactor, "interactor")]
)
def test_programs_that_judge_are_looked_at(
    kind: type[Any], name: str, fields: dict[str, Any], message: str
) -> None:
    asked = request("print(1)", **{name: kind(**{"code": "x", "language": "python", **fields})})
    assert message.format(name) in problem(asked)


@pytest.mark.parametrize("memory", [16, 1024])
@pytest.mark.parametrize("timeout", [100, 60_000])
def test_the_limits_themselves_are_allowed(memory: int, timeout: int) -> None:
    assert problem(request("x", memory_limit_mb=memory, timeout_ms=timeout)) == ""


def test_groups_that_fit() -> None:
    cases = [TestCase("a", "", "", group="g"), TestCase("b", "", "", group="h")]
    groups = [TestGroup("g", 40), TestGroup("h", 60.5)]
    assert problem(request("x", *cases, groups=groups)) == ""
