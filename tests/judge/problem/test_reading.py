"""What is taken for a problem, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.judge.checkers.text import Normalized
from coderunner.judge.checkers.tokens import Tokens
from coderunner.judge.groups import Group, Member
from coderunner.judge.verdict import Verdict
from tests.judge.problem.making import ONE_TEST, ids, one_of, opened, package, turned_away, write

pytestmark = pytest.mark.unit


def test_a_directory_with_problem_yaml_is_a_package(tmp_path: Path) -> None:
    problem = opened(package(tmp_path / "hello", yaml="name: Hello"))
    assert (problem.name, ids(problem)) == ("Hello", ["secret/1"])
    assert problem.checker == Tokens()
    assert problem.path == tmp_path / "hello"


def test_so_is_one_with_a_data_folder(tmp_path: Path) -> None:
    problem = opened(write(tmp_path / "hello", ONE_TEST))
    assert problem.name == "hello"
    assert problem.checker == Tokens()


def test_a_folder_of_tests_is_a_problem(tmp_path: Path) -> None:
    files = {"2.in": "", "2.out": "", "10.in": "", "10.ans": "", "1.in": "", "1.out": ""}
    problem = opened(write(tmp_path / "sum", files))
    assert problem.name == "sum"
    assert ids(problem) == ["1", "2", "10"]
    assert problem.root == Group("all", (Member(0), Member(1), Member(2)), breaks=True)
    assert problem.checker == Normalized()
    assert not problem.samples
    assert not problem.scoring


def test_names_are_put_in_order_as_people_count(tmp_path: Path) -> None:
    names = ["a10b2", "a10b10", "a9b1", "b1", "a09b1", "x"]
    files = {f"{name}.{end}": "" for name in names for end in ("in", "ans")}
    problem = opened(write(tmp_path, files))
    assert ids(problem) == ["a09b1", "a9b1", "a10b2", "a10b10", "b1", "x"]


def test_of_two_answers_the_one_called_ans_counts(tmp_path: Path) -> None:
    problem = opened(write(tmp_path, {"1.in": "", "1.out": "", "1.ans": ""}))
    assert problem.cases[0].answer == tmp_path / "1.ans"


def test_a_folder_of_tests_may_bring_submissions_and_a_time_limit(tmp_path: Path) -> None:
    files = {"1.in": "", "1.ans": "", "submissions/accepted/a.py": "", ".timelimit": "1.5\n"}
    problem = opened(write(tmp_path, files))
    assert problem.time.ms == 1500
    [own] = problem.submissions
    assert (own.name, own.expected) == ("accepted/a.py", one_of(Verdict.ACCEPTED))


def test_an_input_without_an_answer_is_an_error(tmp_path: Path) -> None:
    error = turned_away(write(tmp_path / "sum", {"1.in": ""}))
    assert str(error) == "sum/1.in: its answer is missing"
    assert error.hint == "put 1.ans or 1.out beside it"


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    error = turned_away(tmp_path / "nothing")
    assert "there is no problem" in str(error)
    assert "problem.yaml and data/" in error.hint


@pytest.mark.parametrize("files", [{}, {"readme.txt": ""}, {"1.out": ""}])
def test_an_empty_folder_is_no_problem(tmp_path: Path, files: dict[str, str]) -> None:
    error = turned_away(write(tmp_path, files))
    assert "there is no problem in" in str(error)
    assert "NAME.in" in error.hint


def test_neither_is_a_file_of_another_kind(tmp_path: Path) -> None:
    error = turned_away(write(tmp_path, {"main.py": ""}) / "main.py")
    assert "is no problem" in str(error)
    assert "one JSON or YAML file" in error.hint


def test_a_package_without_tests_is_none(tmp_path: Path) -> None:
    error = turned_away(write(tmp_path / "hello", {"problem.yaml": "", "data/secret/a.txt": ""}))
    assert str(error) == "hello/data: there are no tests"
    assert "data/secret" in error.hint


@pytest.mark.as_user  # root may read everything
def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = package(tmp_path / "hello")
    (path / "problem.yaml").chmod(0)
    assert str(turned_away(path)) == "hello/problem.yaml: cannot be read: Permission denied"
