"""A problem in one file."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from coderunner.judge import ExecutionRequest
from coderunner.judge.as_json import schema
from coderunner.judge.case import Judged
from coderunner.judge.checkers.program import JudgeProgram
from coderunner.judge.checkers.text import Normalized
from coderunner.judge.checkers.tokens import Tokens
from coderunner.judge.groups import grade
from coderunner.judge.problem.model import Problem, TimeLimit
from coderunner.judge.problem.one_file import ProblemFile
from coderunner.judge.problem.timing import said
from coderunner.judge.verdict import Verdict
from coderunner.model import Limits
from tests.judge.problem.making import ids, opened, turned_away, write

pytestmark = pytest.mark.unit

ONE = {"id": "1", "input": "1 2\n", "expected_output": "3\n"}
YAML = """
name: Sum
timeout_ms: 500
memory_limit_mb: 64
checker: {kind: tokens, float_absolute_tolerance: 0.001}
test_cases:
  - id: small
    input: |
      1 2
    expected_output: "3"
  - {id: large, input: "", expected_output: "", is_hidden: true, timeout_ms: 900}
"""


def read(folder: Path, content: object, name: str = "sum.json") -> Problem:
    return opened(write(folder, {name: json.dumps(content)}) / name)


def refused(folder: Path, content: object, name: str = "sum.json") -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    return str(turned_away(write(folder / "x", {name: text}) / name))


def test_yaml(tmp_path: Path) -> None:
    problem = opened(write(tmp_path, {"sum.yaml": YAML}) / "sum.yaml")
    assert problem.name == "Sum"
    assert ids(problem) == ["small", "large"]
    assert problem.samples == {0}
    assert problem.time == TimeLimit(500)
    assert [case.time_ms for case in problem.cases] == [None, 900]
    assert problem.cases[0].input == b"1 2\n"
    assert problem.cases[0].answer == b"3"
    assert problem.checker == Tokens(float_absolute_tolerance=0.001)
    assert not problem.scoring


def test_as_little_as_can_be_said(tmp_path: Path) -> None:
    problem = read(tmp_path, {"test_cases": [ONE]})
    assert problem.name == "sum"
    assert problem.path == tmp_path / "sum.json"
    assert problem.checker == Normalized()
    assert problem.interactor is None
    assert not problem.root.breaks
    flood = 8192 * 1024
    assert problem.cases[0].limits == Limits(
        memory_mb=256, stack_mb=256, processes=64, flood_bytes=flood, output_bytes=flood
    )


def test_a_request_without_its_code_is_a_problem(tmp_path: Path) -> None:
    request = ExecutionRequest("7", "print(1)", "python", [], stop_on_failure=True, cpu_limit=2.0)
    without = json.loads(request.to_json())
    del without["code"]
    problem = read(tmp_path, {**without, "test_cases": [ONE]})
    assert problem.root.breaks
    assert problem.cases[0].limits.cpus == 2.0
    names = {field.name for field in fields(ExecutionRequest)}
    assert names - {field.name for field in fields(ProblemFile)} == {"code"}


def test_a_right_answer_always_fits(tmp_path: Path) -> None:
    one = {**ONE, "expected_output": "x" * 3000}
    [case] = read(tmp_path, {"test_cases": [one], "output_limit_kb": 1}).cases
    assert case.limits.flood_bytes == case.limits.output_bytes == 6000


def test_groups_give_points(tmp_path: Path) -> None:
    tests = [{**ONE, "id": str(i), "group": "ab"[i // 2], "points": i + 1} for i in range(4)]
    groups = [{"id": "a", "points": 30, "scoring": "sum"}, {"id": "b", "points": 70}]
    problem = read(tmp_path, {"test_cases": tests, "groups": groups})
    assert problem.scoring
    letters = {"A": Judged(Verdict.ACCEPTED), "W": Judged(Verdict.WRONG_ANSWER)}
    for results, score in (("AAAA", 100), ("AWAA", 80), ("AAAW", 30)):
        graded = grade(problem.root, [letters[letter] for letter in results])
        assert (graded.score, graded.most) == (score, 100)


def test_an_interactor(tmp_path: Path) -> None:
    content = {"test_cases": [ONE], "interactor": {"code": "x", "language": "python"}}
    problem = read(tmp_path, content)
    assert isinstance(problem.interactor, JudgeProgram)
    assert problem.interactor.what == "interactor"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({}, "test_cases: Field required"),
        ([], "Input should be"),
        ({"test_cases": []}, "No test cases provided"),
        ({"test_cases": [ONE], "code": "x"}, "code: Unexpected keyword argument"),
        ({"test_cases": [{**ONE, "inptu": ""}]}, "test_cases.0.inptu: Unexpected keyword argument"),
        ({"test_cases": [{**ONE, "input": 5}]}, "test_cases.0.input: Input should be a valid str"),
        ({"test_cases": [ONE, ONE]}, "Two test cases have the id '1'"),
        ({"test_cases": [{**ONE, "group": "a"}]}, "Test case '1' is in group 'a', which does not"),
        ({"test_cases": [ONE], "timeout_ms": 1}, "Invalid timeout: 1ms"),
        ({"test_cases": [ONE], "memory_limit_mb": 5}, "Invalid memory limit: 5MB"),
        ({"test_cases": [ONE], "checker": {"kind": "magic"}}, "checker"),
        ({"test_cases": [ONE], "interactor": {"code": "x", "language": "cobol"}}, "no language is"),
        ({"test_cases": [ONE], "interactor": {"code": "", "language": "c"}}, "the interactor has"),
    ],
)
def test_what_makes_no_sense(tmp_path: Path, content: object, what: str) -> None:
    error = refused(tmp_path, content)
    assert error.startswith("x/sum.json: ")
    assert what in error


def test_bad_yaml(tmp_path: Path) -> None:
    error = refused(tmp_path, "test_cases: [", "sum.yml")
    assert error.startswith("x/sum.yml: is no YAML: ")
    assert error.count("sum.yml") == 1


def test_what_only_yaml_can_say(tmp_path: Path) -> None:
    error = refused(tmp_path, "{test_cases: [], metadata: {made: 2024-01-02}}", "sum.yaml")
    assert "x/sum.yaml: this is no ProblemFile: " in error


def test_a_schema_can_be_published() -> None:
    made = schema(ProblemFile)
    assert made["title"] == "ProblemFile"
    assert made["required"] == ["test_cases"]
    assert made["additionalProperties"] is False


def test_a_tests_own_time_limit_wins_over_the_files_and_the_callers_over_both(
    tmp_path: Path,
) -> None:
    own, usual = {**ONE, "id": "own", "timeout_ms": 900}, {**ONE, "id": "usual"}
    problem = read(tmp_path, {"test_cases": [own, usual], "timeout_ms": 500})
    by_problem, by_caller = said(problem.time, None), said(problem.time, 700)
    assert by_problem is not None
    assert by_caller is not None
    assert [by_problem.of(case) for case in problem.cases] == [900, 500]
    assert [by_caller.of(case) for case in problem.cases] == [700, 700]


@pytest.mark.parametrize("written", ["1e-6", "1E-06", "1.0e-6", ".000001", "0.1e-5"])
def test_numbers_in_yaml_are_what_people_write(tmp_path: Path, written: str) -> None:
    text = YAML.replace("0.001", written)
    problem = opened(write(tmp_path, {"sum.yaml": text}) / "sum.yaml")
    assert problem.checker == Tokens(float_absolute_tolerance=1e-6)
