"""What a package's submissions are, and those that somebody names."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from coderunner.errors import InvalidInput, UnknownLanguage
from coderunner.judge.problem.model import Submission
from coderunner.judge.problem.reading import read_submission
from coderunner.judge.problem.sources import language_of, main_first
from coderunner.judge.verdict import Verdict
from coderunner.model import File
from tests.judge.problem.making import (
    NEWER,
    languages,
    one_of,
    package,
    pairs,
    program_files,
    read,
    refused,
    submission,
    write,
)

pytestmark = pytest.mark.unit

CRASHED = one_of(Verdict.RUN_TIME_ERROR, Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT)
REJECTED = CRASHED | one_of(Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT)

FOLDERS: dict[str, frozenset[Verdict] | None] = {
    "accepted": one_of(Verdict.ACCEPTED),
    "wrong_answer": one_of(Verdict.WRONG_ANSWER),
    "no_output": one_of(Verdict.WRONG_ANSWER),
    "time_limit_exceeded": one_of(Verdict.TIME_LIMIT),
    "run_time_error": CRASHED,
    "memory_limit_exceeded": one_of(Verdict.MEMORY_LIMIT, Verdict.RUN_TIME_ERROR),
    "memory_limit": one_of(Verdict.MEMORY_LIMIT, Verdict.RUN_TIME_ERROR),
    "output_limit_exceeded": one_of(Verdict.OUTPUT_LIMIT),
    "output_limit": one_of(Verdict.OUTPUT_LIMIT),
    "compiler_error": one_of(Verdict.COMPILE_ERROR),
    "compile_error": one_of(Verdict.COMPILE_ERROR),
    "rejected": REJECTED,
    "brute_force": CRASHED | one_of(Verdict.TIME_LIMIT),
    "mixed": None,
    "slow_but_fine": None,
}


def test_where_nothing_is_compiled_it_shows_when_it_is_run(tmp_path: Path) -> None:
    [found] = read(tmp_path, {"submissions/compile_error/a.py": ""}).submissions
    assert found.expected == one_of(Verdict.COMPILE_ERROR, Verdict.RUN_TIME_ERROR)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_says_what_should_become_of_it(tmp_path: Path, folder: str) -> None:
    [found] = read(tmp_path, {f"submissions/{folder}/a.c": ""}).submissions
    assert found.name == f"{folder}/a.c"
    assert found.expected == FOLDERS[folder]
    assert found.sets_time_limit == (folder == "accepted")
    assert found.expected_score is None


COMMENTS: dict[str, frozenset[Verdict] | None] = {
    "# @EXPECTED_RESULTS@: CORRECT": one_of(Verdict.ACCEPTED),
    "/* @EXPECTED_RESULTS@: CORRECT */": one_of(Verdict.ACCEPTED),
    "<!-- @EXPECTED_RESULTS@:CORRECT-->": one_of(Verdict.ACCEPTED),
    "@EXPECTED_RESULTS@: WRONG-ANSWER, TIMELIMIT": one_of(Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT),
    "@EXPECTED_RESULTS@: time_limit_exceeded\r": one_of(Verdict.TIME_LIMIT),
    "@EXPECTED_RESULTS@: RUN-ERROR": one_of(Verdict.RUN_TIME_ERROR, Verdict.MEMORY_LIMIT),
    "@EXPECTED_RESULTS@: MEMORY-LIMIT": one_of(Verdict.RUN_TIME_ERROR, Verdict.MEMORY_LIMIT),
    "@EXPECTED_RESULTS@: OUTPUT-LIMIT": one_of(Verdict.OUTPUT_LIMIT),
    "@EXPECTED_RESULTS@: NO-OUTPUT": one_of(Verdict.WRONG_ANSWER),
    "@EXPECTED_RESULTS@: COMPILER-ERROR": one_of(Verdict.COMPILE_ERROR),
    "@EXPECTED_RESULTS@: CHECK-MANUALLY": None,
    "an @EXPECTED_RESULTS@ tag": one_of(Verdict.TIME_LIMIT),
}


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_comment_says_it_better(tmp_path: Path, comment: str) -> None:
    files = {"submissions/time_limit_exceeded/a.c": f"# x\n{comment}\nprint(1)"}
    [found] = read(tmp_path, files).submissions
    assert found.expected == COMMENTS[comment]
    assert found.sets_time_limit == (found.expected == one_of(Verdict.ACCEPTED))


def test_a_comment_may_stand_in_any_file_of_a_submission(tmp_path: Path) -> None:
    files = {
        "submissions/mixed/a/main.py": "",
        "submissions/mixed/a/note.txt": "@EXPECTED_RESULTS@: CORRECT",
    }
    assert read(tmp_path, files).submissions[0].expected == one_of(Verdict.ACCEPTED)


def test_a_comment_that_says_nothing_known(tmp_path: Path) -> None:
    files = {"submissions/mixed/a.py": "# @EXPECTED_RESULTS@: FINE"}
    [found] = read(tmp_path, files).submissions
    assert found.program is None
    assert found.problem == "a.py: @EXPECTED_RESULTS@: 'FINE' is no result"


def test_a_part_of_the_points(tmp_path: Path) -> None:
    files = {**pairs("1", "2", "3"), "submissions/partially_accepted/a.py": ""}
    legacy = read(tmp_path / "a", files, yaml="type: scoring").submissions[0]
    newer = read(tmp_path / "b", files, yaml=NEWER + "type: scoring").submissions[0]
    assert legacy.expected == one_of(Verdict.ACCEPTED)
    assert newer.expected == REJECTED | one_of(Verdict.ACCEPTED)
    assert legacy.expected_score == pytest.approx((-math.inf, 3), abs=1e-4)
    assert newer.expected_score == pytest.approx((-math.inf, 100), abs=1e-3)
    for one, full in ((legacy, 3), (newer, 100)):
        assert one.expected_score is not None
        assert one.expected_score[1] < full
        assert not one.sets_time_limit


def test_where_there_are_no_points_there_is_no_part_of_them(tmp_path: Path) -> None:
    [found] = read(tmp_path, {"submissions/partially_accepted/a.py": ""}).submissions
    assert (found.expected, found.expected_score) == (None, None)


def test_a_file_in_no_language_cannot_be_judged(tmp_path: Path) -> None:
    files = {"submissions/accepted/a.hs": "", "submissions/accepted/b.py": ""}
    a, b = read(tmp_path, files).submissions
    assert a.program is None
    assert a.problem == "cannot tell the language of 'a.hs': no language has the extension '.hs'"
    assert b.program is not None


def test_a_directory_is_one_submission(tmp_path: Path) -> None:
    files = {
        "submissions/accepted/sum/zz.py": "",
        "submissions/accepted/sum/lib/add.py": "",
        "submissions/accepted/sum/main.py": "",
        "submissions/accepted/sum/data.txt": "",
        "submissions/accepted/empty/.gitkeep": "",
    }
    [found] = read(tmp_path, files).submissions
    assert found.name == "accepted/sum"
    assert program_files(found) == ["main.py", "zz.py", "lib/add.py", "data.txt"]


def test_a_file_beside_the_folders_is_no_submission(tmp_path: Path) -> None:
    assert not read(tmp_path, {"submissions/a.py": ""}).submissions


MAIN: dict[str, tuple[str, list[tuple[str, str]], str]] = {
    # what decides: (what the whole is called, files, the main one)
    "main": ("x", [("a.py", ""), ("main.py", "")], "main.py"),
    "Main": ("x", [("A.java", ""), ("Main.java", "")], "Main.java"),
    "__main__": ("x", [("__init__.py", ""), ("__main__.py", "")], "__main__.py"),
    "its name": ("sum.c", [("add.c", ""), ("sum.c", "")], "sum.c"),
    "its name, in another case": ("sum", [("Add.java", ""), ("Sum.java", "")], "Sum.java"),
    "main before its name": ("sum", [("sum.py", ""), ("main.py", "")], "main.py"),
    "who imports": ("x", [("add.py", ""), ("solve.py", "from add import add")], "solve.py"),
    "who requires": ("x", [("add.js", ""), ("b.js", "const a = require('./add')")], "b.js"),
    "who includes": ("x", [("add.cpp", ""), ("b.cpp", '#include "add.cpp"')], "b.cpp"),
    "depth": ("x", [("a/a.py", ""), ("b.py", "")], "b.py"),
    "letters": ("x", [("b.py", ""), ("a.py", "# not b")], "a.py"),
    "sources before all else": ("x", [("a.txt", ""), ("b.py", "")], "b.py"),
}


@pytest.mark.parametrize("case", MAIN)
def test_which_file_is_the_main_one(case: str) -> None:
    name, given, main = MAIN[case]
    files = [File(file, content.encode()) for file, content in given]
    language = language_of(files, languages())
    assert main_first(language, files, name)[0].name == main


def test_lines_that_are_data_are_not_looked_through() -> None:
    files = [File("a.py", b""), File("b.py", b"import a" + b" " * 2000)]
    assert main_first(languages().get("python"), files)[0].name == "a.py"


def named(*paths: Path) -> Submission:
    return read_submission(paths, languages())


class TestNamed:
    """On the command line, say."""

    def test_a_file(self, tmp_path: Path) -> None:
        found = named(write(tmp_path, {"a.py": "print(1)"}) / "a.py")
        assert found.name == "a.py"
        assert found.program is not None
        assert found.program.files == (File("a.py", b"print(1)"),)
        assert (found.expected, found.sets_time_limit) == (None, False)

    def test_a_directory(self, tmp_path: Path) -> None:
        found = named(write(tmp_path / "sum", {"sum.py": "", "add.py": ""}))
        assert found.name == "sum"
        assert program_files(found) == ["sum.py", "add.py"]

    def test_several_files_of_which_the_first_is_the_main_one(self, tmp_path: Path) -> None:
        write(tmp_path, {"main.py": "", "lib/b.py": "", "words.txt": ""})
        paths = [tmp_path / name for name in ("lib/b.py", "main.py", "words.txt")]
        found = named(*paths)
        assert found.name == "b.py"
        assert program_files(found) == ["lib/b.py", "main.py", "words.txt"]

    def test_its_folder_says_what_to_expect(self, tmp_path: Path) -> None:
        found = named(write(tmp_path, {"wrong_answer/a.py": ""}) / "wrong_answer/a.py")
        assert (found.name, found.expected) == ("wrong_answer/a.py", one_of(Verdict.WRONG_ANSWER))

    def test_so_does_a_comment(self, tmp_path: Path) -> None:
        text = "# @EXPECTED_RESULTS@: TIMELIMIT"
        found = named(write(tmp_path, {"a.py": text}) / "a.py")
        assert found.expected == one_of(Verdict.TIME_LIMIT)

    def test_a_language_that_was_named(self, tmp_path: Path) -> None:
        path = write(tmp_path, {"a.txt": ""}) / "a.txt"
        found = read_submission([path], languages(), language="py")
        assert found.program is not None
        assert found.program.language == "python"

    def test_one_of_the_problem_is_as_the_problem_has_it(self, tmp_path: Path) -> None:
        files = {
            "submissions/other/a.py": "print({{N}})",
            "submissions/submissions.yaml": "other: {permitted: [AC, TLE]}",
        }
        problem = read(tmp_path, files, yaml=NEWER + "constants: {N: 1}")
        path = tmp_path / "submissions" / "other" / "a.py"
        assert read_submission([path], languages(), problem) is problem.submissions[0]

    def test_it_gets_the_problems_files(self, tmp_path: Path) -> None:
        problem = read(tmp_path / "x", {"include/python/lib.py": ""})
        path = write(tmp_path, {"a.py": ""}) / "a.py"
        found = read_submission([path], languages(), problem)
        assert program_files(found) == ["a.py", "lib.py"]

    def test_a_link_may_lead_anywhere_if_it_is_what_was_named(self, tmp_path: Path) -> None:
        write(tmp_path, {"there/b.py": "print(2)", "here/x": ""})
        (tmp_path / "here" / "a.py").symlink_to("../there/b.py")
        assert program_files(named(tmp_path / "here" / "a.py")) == ["a.py"]

    def test_but_not_one_inside(self, tmp_path: Path) -> None:
        write(tmp_path, {"there/b.py": "print(2)", "here/a.py": ""})
        (tmp_path / "here" / "b.py").symlink_to("../there/b.py")
        with pytest.raises(InvalidInput, match="is a link that leads out of the directory"):
            named(tmp_path / "here")

    @pytest.mark.parametrize(
        ("files", "names", "what"),
        [
            ({}, ["a.py"], "there is no submission"),
            ({"a/.b": ""}, ["a"], "there is no file in"),
            ({"a/a.py": "", "b.py": ""}, ["b.py", "a"], "is a directory"),
            ({"a.hs": ""}, ["a.hs"], "cannot tell the language of 'a.hs'"),
            ({}, [], "a submission needs a file"),
        ],
    )
    def test_what_cannot_be_used(
        self, tmp_path: Path, files: dict[str, str], names: list[str], what: str
    ) -> None:
        write(tmp_path, files)
        with pytest.raises(InvalidInput, match=what):
            named(*(tmp_path / name for name in names))

    def test_a_language_that_there_is_not(self, tmp_path: Path) -> None:
        path = write(tmp_path, {"a.py": ""}) / "a.py"
        with pytest.raises(UnknownLanguage):
            read_submission([path], languages(), language="cobol")


class TestRules:
    """submissions.yaml."""

    def found(
        self, folder: Path, rules: str, name: str = "other/a.py", files: str = ""
    ) -> Submission:
        given = {f"submissions/{name}": files, "submissions/submissions.yaml": rules}
        return submission(read(folder, given, yaml=NEWER), name)

    @pytest.mark.parametrize(
        ("rule", "expected"),
        [
            ("{permitted: [AC]}", one_of(Verdict.ACCEPTED)),
            ("{permitted: [AC, WA]}", one_of(Verdict.ACCEPTED, Verdict.WRONG_ANSWER)),
            ("{permitted: [AC, WA], required: [WA]}", one_of(Verdict.WRONG_ANSWER)),
            ("{required: [RTE, TLE, WA]}", REJECTED),
            ("{permitted: [AC, RTE], required: [RTE]}", CRASHED),
            # the first that is rejected may be another one
            (
                "{permitted: [WA, TLE], required: [TLE]}",
                one_of(Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT),
            ),
            ("{}", REJECTED | one_of(Verdict.ACCEPTED)),
        ],
    )
    def test_verdicts(self, tmp_path: Path, rule: str, expected: frozenset[Verdict]) -> None:
        assert self.found(tmp_path, f"other: {rule}").expected == expected

    def test_a_folders_meaning_may_be_replaced(self, tmp_path: Path) -> None:
        rules = "time_limit_exceeded: {permitted: [AC, WA, TLE]}"
        found = self.found(tmp_path, rules, "time_limit_exceeded/a.py")
        assert found.expected == one_of(Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT)

    def test_a_glob_adds_to_it(self, tmp_path: Path) -> None:
        found = self.found(tmp_path, "rejected/*: {permitted: [AC, TLE]}", "rejected/a.py")
        assert found.expected == one_of(Verdict.TIME_LIMIT)

    def test_rules_that_contradict_each_other(self, tmp_path: Path) -> None:
        found = self.found(tmp_path, "accepted/*: {permitted: [WA]}", "accepted/a.py")
        assert found.program is None
        assert found.problem == "what submissions.yaml says of it contradicts itself"

    @pytest.mark.parametrize(
        ("glob", "name", "fits"),
        [
            ("other", "other/a.py", True),
            ("other/", "other/a.py", True),
            ("other/a.py", "other/a.py", True),
            ("'*/a.py'", "other/a.py", True),
            ("'*'", "other/a.py", True),
            ("other/a*", "other/a.py", True),
            ("'other/{b,a}.{c,py}'", "other/a.py", True),
            ("'other/{b,{a,c}}.py'", "other/a.py", True),
            ("other/a", "other/a.py", False),
            ("a.py", "other/a.py", False),
            ("'*.py'", "other/a.py", False),
            ("'other/[a].py'", "other/a.py", False),
            ("'other/?.py'", "other/a.py", False),
            ("'other/{b,c}.py'", "other/a.py", False),
            ("other/a.py/b", "other/a.py", False),
        ],
    )
    def test_globs(self, tmp_path: Path, glob: str, name: str, fits: bool) -> None:
        found = self.found(tmp_path, f"{glob}: {{permitted: [AC]}}", name)
        assert found.expected == (one_of(Verdict.ACCEPTED) if fits else None)

    def test_language_entry_point_and_score(self, tmp_path: Path) -> None:
        files = {
            "submissions/other/a/x.txt": "",
            "submissions/other/a/y.txt": "",
            "submissions/submissions.yaml": "other/a: {language: python3, entrypoint: y.txt}\n"
            "other/*: {score: [1, 2.5], authors: Somebody}\n",
        }
        found = submission(read(tmp_path, files, yaml=NEWER), "other/a")
        assert found.program is not None
        assert found.program.language == "python"
        assert program_files(found) == ["y.txt", "x.txt"]
        assert found.expected_score == (1, 2.5)

    def test_a_score_that_must_be_met(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, "other: {score: 7}").expected_score == (7, 7)

    @pytest.mark.parametrize(
        ("rules", "name", "sets"),
        [
            ("other: {use_for_time_limit: lower}", "other/a.py", True),
            ("other: {use_for_time_limit: upper}", "other/a.py", False),
            ("other: {permitted: [AC]}", "other/a.py", True),
            ("accepted/*: {use_for_time_limit: false}", "accepted/a.py", False),
            ("accepted/*: {use_for_time_limit: true}", "accepted/a.py", True),
        ],
    )
    def test_who_sets_the_time_limit(
        self, tmp_path: Path, rules: str, name: str, sets: bool
    ) -> None:
        assert self.found(tmp_path, rules, name).sets_time_limit == sets

    def test_what_is_said_of_some_tests_is_left_out(self, tmp_path: Path) -> None:
        rules = "accepted/a.py: {secret/group1: {permitted: [WA]}, message: hello}"
        assert self.found(tmp_path, rules, "accepted/a.py").expected == one_of(Verdict.ACCEPTED)

    def test_a_comment_says_it_better_still(self, tmp_path: Path) -> None:
        comment = "# @EXPECTED_RESULTS@: TIMELIMIT"
        found = self.found(tmp_path, "other: {permitted: [AC]}", files=comment)
        assert found.expected == one_of(Verdict.TIME_LIMIT)

    @pytest.mark.parametrize(
        ("rules", "what"),
        [
            ("other: {permitted: [OK]}", "other.permitted: 'OK' is no verdict"),
            ("other: {permited: [AC]}", "other.permited: is not a known key"),
            ("other: {score: [1]}", "other.score: must be a number, or a list of two"),
            ("other: {score: full}", "other.score: must be a number, or a list of two"),
            ("other: {use_for_time_limit: no way}", "other.use_for_time_limit: must be true"),
            ("other: [AC]", "other: must be a map of keys and values, not a list"),
            ("[other]", "must be a map of keys and values, not a list"),
            ("'" + "{a,b}" * 20 + "': {}", "{a,b}{a,b}"),
            ("? '" + "a" * 600 + "'\n: {}", "aaa"),
        ],
    )
    def test_what_makes_no_sense(self, tmp_path: Path, rules: str, what: str) -> None:
        error = refused(tmp_path / "x", {"submissions/submissions.yaml": rules}, yaml=NEWER)
        assert str(error).startswith(f"x/submissions/submissions.yaml: {what}")

    def test_globs_that_stand_for_too_much(self, tmp_path: Path) -> None:
        path = package(tmp_path / "x", {"submissions/submissions.yaml": "'" + "{a,b}" * 20 + "':"})
        error = refused(path, {}, yaml=NEWER)
        assert str(error).endswith("its braces stand for more than 1000 patterns")
