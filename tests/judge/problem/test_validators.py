"""The programs that a package brings: its validator, and what every submission gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.judge.checkers.program import Convention, JudgeProgram
from coderunner.judge.checkers.tokens import Tokens
from coderunner.judge.problem.model import Problem
from coderunner.model import File
from tests.judge.problem.making import NEWER, program_files, read, refused, submission

pytestmark = pytest.mark.unit

CUSTOM = "validation: custom"


def checker(problem: Problem) -> JudgeProgram:
    assert isinstance(problem.checker, JudgeProgram)
    return problem.checker


def names(program: JudgeProgram) -> list[str]:
    return [file.name for file in program.program.files]


def test_a_file(tmp_path: Path) -> None:
    found = checker(read(tmp_path, {"output_validators/v.py": "x"}, yaml=CUSTOM))
    assert found.program.language == "python"
    assert found.program.files == (File("v.py", b"x"),)
    assert found.convention is Convention.ICPC
    assert found.what == "checker"


def test_a_directory_with_all_that_lies_in_it(tmp_path: Path) -> None:
    files = {
        "output_validators/v/validate.h": "",
        "output_validators/v/validate.cc": "",
        "output_validators/v/lib/a.h": "",
    }
    found = checker(read(tmp_path, files, yaml=CUSTOM))
    assert found.program.language == "cpp"
    assert names(found) == ["validate.cc", "validate.h", "lib/a.h"]


def test_a_source_beside_its_header(tmp_path: Path) -> None:
    files = {"output_validators/v.cc": "", "output_validators/v.h": ""}
    assert names(checker(read(tmp_path, files, yaml=CUSTOM))) == ["v.cc", "v.h"]


def test_the_newer_place(tmp_path: Path) -> None:
    files = {"output_validator/a.py": "", "output_validator/__main__.py": ""}
    assert names(checker(read(tmp_path / "a", files, yaml=NEWER))) == ["__main__.py", "a.py"]
    nested = {"output_validator/v/validate.cc": "", "output_validator/v/validate.h": ""}
    assert names(checker(read(tmp_path / "b", nested, yaml=NEWER))) == ["validate.cc", "validate.h"]


def test_a_package_may_have_it_in_the_other_place(tmp_path: Path) -> None:
    assert names(checker(read(tmp_path / "a", {"output_validator/v.py": ""}, yaml=CUSTOM))) == [
        "v.py"
    ]
    assert names(checker(read(tmp_path / "b", {"output_validators/v.py": ""}, yaml=NEWER))) == [
        "v.py"
    ]


def test_a_legacy_package_says_whether_it_counts(tmp_path: Path) -> None:
    assert read(tmp_path, {"output_validators/v.py": ""}).checker == Tokens()


def test_interactors(tmp_path: Path) -> None:
    legacy = read(tmp_path / "a", {"output_validators/v.py": ""}, yaml=CUSTOM + " interactive")
    newer = read(tmp_path / "b", {"output_validator/v.py": ""}, yaml=NEWER + "type: [interactive]")
    for problem in (legacy, newer):
        assert problem.interactor is not None
        assert problem.interactor.what == "interactor"
        assert not isinstance(problem.checker, JudgeProgram)


def test_constants_are_filled_in(tmp_path: Path) -> None:
    files = {
        "output_validator/v.py": "N = {{N}}; T = '{{T.german}}'; {{other}} = {{ N }}",
        "include/default/n.txt": "{{N}}",
        "submissions/accepted/a.py": "print({{N}}, {{T}})",
    }
    yaml = NEWER + "constants: {N: 5, T: {value: 1.5, german: '1,5'}}"
    problem = read(tmp_path, files, yaml=yaml)
    [file] = checker(problem).program.files
    assert file.content == b"N = 5; T = '1,5'; {{other}} = {{ N }}"
    own = submission(problem, "accepted/a.py").program
    assert own is not None
    assert own.files == (File("a.py", b"print(5, 1.5)"), File("n.txt", b"5"))


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({}, "problem.yaml: the problem has a validator of its own, but output_validators/ has"),
        (
            {"output_validators/a.py": "", "output_validators/b.py": ""},
            "output_validators: several validators are not supported (a.py, b.py)",
        ),
        (
            {"output_validators/a/a.py": "", "output_validators/b/b.py": ""},
            "output_validators: several validators are not supported (a, b)",
        ),
        (
            {"output_validators/v.hs": ""},
            "output_validators: cannot tell the language of 'v.hs'",
        ),
        (
            {"output_validators/v/a.py": "", "output_validators/v/b.cc": ""},
            "output_validators/v: is it python or cpp? It has files of both",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, files: dict[str, str], what: str) -> None:
    assert str(refused(tmp_path / "x", files, yaml=CUSTOM)).startswith(f"x/{what}")


def test_an_interactive_problem_without_an_interactor(tmp_path: Path) -> None:
    error = refused(tmp_path, yaml=NEWER + "type: interactive")
    assert "the problem is interactive, but output_validator/ has none" in str(error)


@pytest.mark.parametrize(
    ("yaml", "passes"),
    [
        (NEWER, 1),
        (NEWER + "type: multi-pass", 2),
        (NEWER + "type: [multi-pass, scoring]\nlimits: {validation_passes: 7}", 7),
        (NEWER + "limits: {validation_passes: 7}", 1),
        ("validation: custom multi-pass", 2),
    ],
)
def test_how_often_it_may_have_the_submission_run(tmp_path: Path, yaml: str, passes: int) -> None:
    assert checker(read(tmp_path, {"output_validator/v.py": ""}, yaml=yaml)).passes == passes


def test_passes_need_a_validator(tmp_path: Path) -> None:
    error = refused(tmp_path, yaml=NEWER + "type: multi-pass")
    assert "the problem has several passes, but output_validator/ has none" in str(error)


def test_files_that_every_submission_gets(tmp_path: Path) -> None:
    files = {
        "include/default/data.txt": "all",
        "include/default/extra.txt": "all",
        "include/python3/data.txt": "python",
        "include/cpp/lib/grader.h": "",
        "include/ada/grader.adb": "",
        "submissions/accepted/a.py": "",
        "submissions/accepted/b/b.cpp": "",
        "submissions/accepted/b/extra.txt": "own",
    }
    problem = read(tmp_path, files)
    assert {file.name: file.content for file in problem.included["python"]} == {
        "data.txt": b"python",
        "extra.txt": b"all",
    }
    assert [file.name for file in problem.included["rust"]] == ["data.txt", "extra.txt"]
    assert program_files(submission(problem, "accepted/a.py")) == ["a.py", "data.txt", "extra.txt"]
    b = submission(problem, "accepted/b").program
    assert b is not None
    assert [file.name for file in b.files] == ["b.cpp", "data.txt", "extra.txt", "lib/grader.h"]
    assert b.files[2].content == b"all"


def test_an_included_file_may_be_the_main_one(tmp_path: Path) -> None:
    files = {"include/python/main.py": "import solve", "submissions/accepted/solve.py": ""}
    problem = read(tmp_path, files)
    assert program_files(submission(problem, "accepted/solve.py")) == ["main.py", "solve.py"]
