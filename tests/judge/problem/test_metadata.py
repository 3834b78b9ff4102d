"""problem.yaml, in all versions of the format."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.judge.checkers.program import LIMITS, JudgeProgram
from coderunner.judge.checkers.tokens import Tokens
from coderunner.judge.problem.model import TimeLimit
from coderunner.model import MIB
from tests.judge.problem.making import NEWER, read, refused

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("yaml", "name"),
    [
        ("name: Hello World!", "Hello World!"),
        ("name: 2048", "2048"),
        ("name: {sv: Hej, en: Hello}", "Hello"),
        ("name: {sv: Hej}", "Hej"),
        ("name:", "folder"),
        ("", "folder"),
    ],
)
def test_the_name(tmp_path: Path, yaml: str, name: str) -> None:
    assert read(tmp_path / "folder", yaml=yaml).name == name


@pytest.mark.parametrize(
    "version", ["legacy", "legacy-icpc", "2023-07-draft", "2023-07", "2025-09"]
)
def test_versions_that_are_known(tmp_path: Path, version: str) -> None:
    assert read(tmp_path, yaml=f"name: X\nproblem_format_version: {version}").cases


def test_another_version_is_refused(tmp_path: Path) -> None:
    error = refused(tmp_path / "x", yaml="problem_format_version: 2031-01")
    assert str(error).startswith(
        "x/problem.yaml: problem_format_version: '2031-01' is not a version"
    )
    assert "2025-09" in error.hint


def test_limits_that_nobody_has_set(tmp_path: Path) -> None:
    problem = read(tmp_path)
    limits = problem.cases[0].limits
    assert (limits.memory_mb, limits.stack_mb, limits.processes) == (2048, 2048, 64)
    assert (limits.flood_bytes, limits.output_bytes) == (8 * MIB, 8 * MIB)
    assert problem.compile_limits is None


def test_limits_of_a_submission(tmp_path: Path) -> None:
    limits = read(tmp_path, yaml="limits: {memory: 512, output: 1}").cases[0].limits
    assert (limits.memory_mb, limits.stack_mb) == (512, 512)
    assert (limits.flood_bytes, limits.output_bytes) == (MIB, MIB)


def test_limits_of_a_compilation(tmp_path: Path) -> None:
    one = read(tmp_path / "a", yaml="limits: {compilation_time: 7}").compile_limits
    other = read(tmp_path / "b", yaml="limits: {compilation_memory: 500}").compile_limits
    assert one is not None
    assert other is not None
    assert (one.wall_ms, one.memory_mb) == (7_000, 2048)
    assert (other.wall_ms, other.memory_mb) == (60_000, 500)


def test_limits_of_a_validator(tmp_path: Path) -> None:
    yaml = (
        "validation: custom\n"
        "limits: {validation_time: 5, validation_memory: 300, validation_output: 2}"
    )
    checker = read(tmp_path, {"output_validators/v.py": ""}, yaml=yaml).checker
    assert isinstance(checker, JudgeProgram)
    changes = {"wall_ms": 5000, "memory_mb": 300, "flood_bytes": 2 * MIB}
    assert checker.limits == LIMITS.but(changes)


def test_a_time_limit_of_problem_yaml(tmp_path: Path) -> None:
    yaml = NEWER + "limits: {time_limit: 1.25}"
    assert read(tmp_path, yaml=yaml).time == TimeLimit(1250)


def test_no_time_limit_is_a_multiple_of_what_is_needed(tmp_path: Path) -> None:
    limits = "limits: {time_multipliers: {ac_to_time_limit: 3}, time_resolution: 0.1}"
    assert read(tmp_path / "a", yaml=NEWER).time == TimeLimit(None, 2.0, 1000)
    assert read(tmp_path / "b", yaml=NEWER + limits).time == TimeLimit(None, 3.0, 100)
    assert read(tmp_path / "c").time == TimeLimit(None, 5.0, 1000)
    legacy = read(tmp_path / "d", yaml="limits: {time_multiplier: 4, time_safety_margin: 2}")
    assert legacy.time == TimeLimit(None, 4.0, 1000)


def test_where_else_a_time_limit_may_stand(tmp_path: Path) -> None:
    ini = "; by hand\nname = 'X'\ntimelimit='2.5'\ncolor = red\n"
    both = {"domjudge-problem.ini": ini, ".timelimit": "3\n"}
    assert read(tmp_path / "a", {".timelimit": "3\n"}).time.ms == 3000
    assert read(tmp_path / "b", both).time.ms == 2500
    assert read(tmp_path / "c", both, yaml=NEWER + "limits: {time_limit: 1}").time.ms == 1000
    assert (
        read(tmp_path / "d", {"domjudge-problem.ini": "name=X\n", ".timelimit": "3"}).time.ms
        == 3000
    )
    assert read(tmp_path / "e", {".timelimit": "\n"}).time.ms is None


@pytest.mark.parametrize("content", ["soon", "-1", "0", "nan"])
def test_a_time_limit_that_is_none(tmp_path: Path, content: str) -> None:
    assert "x/.timelimit: timelimit: must be" in str(
        refused(tmp_path / "x", {".timelimit": content})
    )


@pytest.mark.parametrize(
    ("yaml", "key", "what"),
    [
        ("limits: {memory: lots}", "limits.memory", "must be a number, not 'lots'"),
        ("limits: {memory: 0}", "limits.memory", "must be above 0 and at most 500000"),
        ("limits: {memory: .inf}", "limits.memory", "must be above 0 and at most 500000"),
        ("limits: {memory: true}", "limits.memory", "must be a number, not true or false"),
        ("limits: {output: -5}", "limits.output", "must be above 0"),
        ("limits: {time_limit: [1]}", "limits.time_limit", "must be a number, not a list"),
        ("limits: {time_multiplier: 0.5}", "limits.time_multiplier", "must be at least 1"),
        ("limits: {time_limt: 1}", "limits.time_limt", "is not a known key"),
        ("limits: 5", "limits", "must be a map of keys and values, not a number"),
        ("name: [a]", "name", "must be text, not a list"),
        ("type: game", "type", "'game' is no type of problem"),
        ("type: [scoring, pass-fail]", "type", "is either pass-fail or scoring, not both"),
        ("type: submit-answer", "type", "submit-answer problems are not supported"),
        ("validation: magic", "validation", "must begin with default or custom"),
        ("limits: {validation_passes: 1}\ntype: multi-pass", "limits.validation_passes", "must be"),
        ("validation: default score", "validation", "'score' does not belong there"),
        ("grading: {objective: min}", "grading.objective", "scores to be minimized are not"),
        ("constants: {a-b: 1}", "constants.a-b", "is no name for a constant"),
    ],
)
def test_what_makes_no_sense_is_named_by_file_and_key(
    tmp_path: Path, yaml: str, key: str, what: str
) -> None:
    assert str(refused(tmp_path / "x", yaml=yaml)).startswith(f"x/problem.yaml: {key}: {what}")


def test_a_misspelt_key_is_told_from_one_that_is_for_others(tmp_path: Path) -> None:
    assert read(tmp_path / "a", yaml="limits: {generator_time: 5, code: 128}\nfoo: 1").cases
    assert refused(tmp_path / "b", yaml="limits: {memry: 5}").hint == "did you mean 'memory'?"


def test_scores(tmp_path: Path) -> None:
    assert not read(tmp_path / "a").scoring
    assert read(tmp_path / "b", yaml="type: scoring").scoring
    assert read(tmp_path / "c", yaml=NEWER + "type: [scoring]").scoring


def test_flags_of_the_default_validator(tmp_path: Path) -> None:
    yaml = "validator_flags: case_sensitive float_tolerance 1E-6"
    expected = Tokens(True, float_relative_tolerance=1e-6, float_absolute_tolerance=1e-6)
    assert read(tmp_path, yaml=yaml).checker == expected


def test_a_flag_that_the_default_validator_does_not_have(tmp_path: Path) -> None:
    error = refused(tmp_path, yaml="validator_flags: strict")
    assert "flags of test secret/1: the default validator has no flag 'strict'" in str(error)
    assert "case_sensitive" in error.hint
