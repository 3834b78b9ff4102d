"""The tests of a package: which they are, in what order, and how each is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.judge.case import Case, load
from coderunner.judge.checkers.opened import open_checker
from coderunner.judge.checkers.text import Exact
from coderunner.judge.checkers.tokens import Tokens
from coderunner.judge.verdict import Verdict
from coderunner.model import File
from coderunner.runner import Runner
from tests.judge.problem.making import NEWER, ids, pairs, read, refused

pytestmark = pytest.mark.unit


async def test_samples_come_first_and_are_for_everybody(tmp_path: Path) -> None:
    problem = read(tmp_path, {**pairs("1"), **pairs("1", "2", folder="data/sample")})
    assert ids(problem) == ["sample/1", "sample/2", "secret/1"]
    assert problem.samples == {0, 1}
    assert await load(problem.cases[1].input) == b"2\n"
    assert await load(problem.cases[1].answer) == b"2\n"


def test_tests_and_groups_are_in_the_order_of_their_names(tmp_path: Path) -> None:
    files = {**pairs("10", "2", "c.1"), **pairs("x", folder="data/secret/a"), **pairs("b")}
    assert ids(read(tmp_path, files)) == [
        "secret/10",
        "secret/2",
        "secret/a/x",
        "secret/b",
        "secret/c.1",
    ]


def test_other_folders_are_not_for_submissions(tmp_path: Path) -> None:
    files = {**pairs("1"), "data/invalid_input/1.in": "", "data/valid_output/1.out": ""}
    assert ids(read(tmp_path, files)) == ["secret/1"]


def test_what_else_lies_beside_a_test(tmp_path: Path) -> None:
    names = ("1.hint", "1.desc", "1.png", "1.out", "2.interaction", "3.in.statement")
    files = {**pairs("1"), **{f"data/secret/{name}": "" for name in names}}
    assert ids(read(tmp_path, files)) == ["secret/1"]


def test_an_answer_that_is_missing(tmp_path: Path) -> None:
    error = refused(tmp_path / "x", {"data/secret/a/1.in": ""})
    assert str(error) == "x/data/secret/a/1.ans: is missing: the answer to 1.in"


def test_an_input_that_is_missing(tmp_path: Path) -> None:
    error = refused(tmp_path / "x", {"data/secret/1.ans": ""})
    assert str(error) == "x/data/secret/1.ans: there is no 1.in beside it"


def test_arguments_and_files_of_a_test(tmp_path: Path) -> None:
    files = {
        **pairs("1", "2"),
        "data/secret/1.args": "-n 5 'two words'\n",
        "data/secret/1.files/words.txt": "abc",
        "data/secret/1.files/more/of.them": b"\xff",
    }
    one, two = read(tmp_path, files).cases
    assert one.args == ("-n", "5", "two words")
    assert one.files == (File("more/of.them", b"\xff"), File("words.txt", b"abc"))
    assert two.args is None
    assert two.files == ()


def test_arguments_that_nobody_can_read(tmp_path: Path) -> None:
    error = refused(tmp_path / "x", {**pairs("1"), "data/secret/1.args": "'"})
    assert str(error) == "x/data/secret/1.args: No closing quotation"


def test_what_is_said_of_a_group_holds_for_all_in_it(tmp_path: Path) -> None:
    files = {
        **pairs("1", "2", folder="data/secret/a"),
        **pairs("1", folder="data/secret/b"),
        "output_validator/v.py": "",
        "data/test_group.yaml": "output_validator_args: [all]",
        "data/secret/a/test_group.yaml": "{args: [--fast], output_validator_args: [a]}",
        "data/secret/a/2.yaml": "{args: [], output_validator_args: [a2, 1e-6], hint: think}",
    }
    a1, a2, b1 = read(tmp_path, files, yaml=NEWER).cases
    assert (a1.args, a1.flags) == (("--fast",), ("a",))
    assert (a2.args, a2.flags) == ((), ("a2", "1e-6"))
    assert (b1.args, b1.flags) == (None, ("all",))


def test_in_a_legacy_package_the_flags_add_up(tmp_path: Path) -> None:
    files = {
        **pairs("1", folder="data/secret/a"),
        **pairs("1", folder="data/secret/b"),
        **pairs("1", folder="data/secret/c"),
        "output_validators/v.py": "",
        "data/testdata.yaml": "output_validator_flags: all",
        "data/secret/a/testdata.yaml": "output_validator_flags: a b",
        "data/secret/b/testdata.yaml": "output_validator_flags: {name: v, flags: c}",
    }
    problem = read(tmp_path, files, yaml="{validation: custom, validator_flags: always}")
    assert [case.flags for case in problem.cases] == [
        ("always", "a", "b"),
        ("always", "c"),
        ("always", "all"),
    ]


def test_flags_of_the_default_validator_may_differ_from_test_to_test(tmp_path: Path) -> None:
    files = {
        **pairs("1", "2", folder="data/secret/a"),
        **pairs("1", folder="data/secret/b"),
        "data/secret/b/test_group.yaml": "output_validator_args: [case_sensitive]",
    }
    problem = read(tmp_path, files, yaml=NEWER)
    assert problem.checker == Tokens()
    assert [case.checker for case in problem.cases] == [None, None, Tokens(case_sensitive=True)]
    assert not any(case.flags for case in problem.cases)


async def test_a_case_with_a_checker_of_its_own_is_checked_by_that() -> None:
    async with Runner.open() as runner, open_checker(Tokens(), runner) as check:
        usual = await check(Case("1", b"", b"A"), b"a")
        own = await check(Case("2", b"", b"A", checker=Exact()), b"a")
    assert (usual.verdict, own.verdict) == (Verdict.ACCEPTED, Verdict.WRONG_ANSWER)


@pytest.mark.parametrize(
    ("name", "yaml", "what"),
    [
        ("testdata.yaml", "on_rejct: break", "on_rejct: is not a known key"),
        ("testdata.yaml", "[]", "must be a map of keys and values, not a list"),
        ("testdata.yaml", "output_validator_flags: [[]]", "output_validator_flags: must be a list"),
    ],
)
def test_bad_words_about_a_group(tmp_path: Path, name: str, yaml: str, what: str) -> None:
    error = refused(tmp_path / "x", {**pairs("1"), f"data/secret/{name}": yaml})
    assert str(error).startswith(f"x/data/secret/{name}: {what}")


def test_bad_words_about_a_test(tmp_path: Path) -> None:
    error = refused(tmp_path / "x", {**pairs("1"), "data/secret/1.yaml": "arg: 1"}, yaml=NEWER)
    assert str(error) == "x/data/secret/1.yaml: arg: is not a known key"
    assert error.hint == "did you mean 'args'?"


def test_a_newer_file_in_a_legacy_package(tmp_path: Path) -> None:
    error = refused(tmp_path / "x", {**pairs("1"), "data/secret/test_group.yaml": ""})
    assert "x/data/secret/test_group.yaml: does not count here" in str(error)
    assert "problem_format_version: 2025-09" in error.hint


def test_both_files_in_one_place(tmp_path: Path) -> None:
    files = {**pairs("1"), "data/test_group.yaml": "", "data/testdata.yaml": ""}
    assert "there is a testdata.yaml, too" in str(refused(tmp_path, files, yaml=NEWER))


@pytest.mark.parametrize(
    "files",
    [
        {"static_validator/v.py": ""},
        {"data/secret/test_group.yaml": "static_validation_score: 5", **pairs("1")},
    ],
)
def test_static_validators_are_refused(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    error = refused(tmp_path, files, yaml=NEWER)
    assert "static validators are not supported" in str(error)
