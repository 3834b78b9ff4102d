"""`coderunner judge`: what is judged, what is said of it, with which exit code it ends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.judging import doubling, judge, line_of, summary
from tests.cli.packages import CRASH, DOUBLE, DOUBLE_IN_C, LOOP, SQUARE, package, plain, write
from tests.support import require_sandbox, require_toolchain

pytestmark = [pytest.mark.cli, pytest.mark.engines]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


@pytest.fixture
def double(tmp_path: Path) -> Path:
    return doubling(tmp_path)


# What is judged


def test_all_that_a_package_brings_is_compared_with_its_folder(double: Path) -> None:
    done = judge(double)
    assert (done.returncode, done.stderr) == (0, b"")
    head, *_ = done.stdout.decode().splitlines()
    assert re.fullmatch(
        r"Double: 3 tests, time limit 2 s \(the problem's\), \d+ MB, linux engine, "
        r"isolation (full|sampled)",
        head,
    )
    used = r"[\d.]+ s [\d.]+ MB"
    assert re.fullmatch(rf"accepted/a.py \.\.\. accepted {used}", line_of(done, "accepted/a.py"))
    assert re.fullmatch(rf"accepted/b.c \.\.\. accepted {used}", line_of(done, "accepted/b.c"))
    assert re.fullmatch(
        rf"wrong_answer/w.py \.W- wrong answer {used}", line_of(done, "wrong_answer/w.py")
    )
    assert re.fullmatch(
        rf"run_time_error/r.py R-- run time error {used}", line_of(done, "run_time_error/r.py")
    )
    assert summary(done) == "4 as expected"


def test_one_that_does_something_else_has_a_section(tmp_path: Path) -> None:
    files = {"accepted/w.py": SQUARE, "wrong_answer/a.py": DOUBLE, "accepted/a.py": DOUBLE}
    done = judge(package(tmp_path, files))
    shown = done.stdout.decode()
    assert done.returncode == 1
    assert summary(done) == "1 as expected, 2 not"
    assert "wrong answer, expected accepted" in line_of(done, "accepted/w.py")
    assert re.search(
        r"_+ accepted/w\.py: wrong answer, expected accepted _+\n"
        r"test secret/1: wrong answer, [\d.]+ s\n"
        r"  line 1, column 1\n"
        r"    expected \| 6\n"
        r"    actual   \| 9\n"
        r"             \| \^\n",
        shown,
    )
    assert re.search(
        r"_+ wrong_answer/a\.py: accepted, expected wrong answer _+\n"
        r"it was accepted in every test\n",
        shown,
    )


def test_a_named_submission_must_be_accepted(tmp_path: Path) -> None:
    problem = plain(tmp_path / "tests")
    write(tmp_path, {"good.py": DOUBLE, "bad.py": SQUARE})
    good = judge(problem, tmp_path / "good.py")
    assert (good.returncode, summary(good)) == (0, "1 accepted")
    bad = judge(problem, tmp_path / "bad.py")
    assert (bad.returncode, summary(bad)) == (1, "1 not accepted")
    both = judge(problem, tmp_path / "good.py", tmp_path / "bad.py")
    assert (both.returncode, summary(both)) == (1, "1 accepted, 1 not")


@pytest.mark.parametrize("how", ["path", "name", "folder"])
def test_a_named_one_of_the_packages_own_must_be_as_expected(double: Path, how: str) -> None:
    name = {
        "path": double / "submissions" / "wrong_answer" / "w.py",
        "name": "wrong_answer/w.py",
        "folder": double / "submissions" / "wrong_answer",
    }[how]
    done = judge(double, name)
    assert (done.returncode, summary(done)) == (0, "1 as expected")
    assert "_ wrong_answer/w.py: wrong answer _" in done.stdout.decode()  # and one sees why


def test_nobody_says_himself_what_is_expected_of_him(tmp_path: Path) -> None:
    """A stranger's file that says that it should fail, in a folder that says so, too."""
    write(tmp_path, {"wrong_answer/w.py": f"# @EXPECTED_RESULTS@: WRONG-ANSWER\n{SQUARE}"})
    done = judge(plain(tmp_path / "tests"), tmp_path / "wrong_answer" / "w.py")
    assert (done.returncode, summary(done)) == (1, "1 not accepted")


def test_a_directory_is_one_submission(tmp_path: Path) -> None:
    require_toolchain("c")
    header, use = "long twice(long);", '#include "twice.h"\nlong twice(long n) { return 2 * n; }'
    main = DOUBLE_IN_C.replace("2 * n", "twice(n)").replace(
        "int main", '#include "twice.h"\nint main'
    )
    write(tmp_path / "mine", {"main.c": main, "twice.c": use, "twice.h": header})
    done = judge(plain(tmp_path / "tests"), tmp_path / "mine")
    assert (done.returncode, summary(done)) == (0, "1 accepted")


def test_language_is_for_a_file_whose_name_does_not_say(tmp_path: Path) -> None:
    write(tmp_path, {"solution.txt": DOUBLE})
    problem = plain(tmp_path / "tests")
    unknown = judge(problem, tmp_path / "solution.txt")
    assert unknown.returncode == 2
    assert b"cannot tell the language" in unknown.stderr
    assert judge(problem, tmp_path / "solution.txt", "-l", "python").returncode == 0


def test_all_kinds_of_bad_ends_have_their_letters(tmp_path: Path) -> None:
    files = {
        "time_limit_exceeded/t.py": LOOP,
        "run_time_error/memory.py": "x = bytearray(10**9)",
        "wrong_answer/flood.py": "while True: print('x' * 10**6)",
    }
    one = {"secret/1": ("2", "4")}
    done = judge(package(tmp_path, files, time_limit="1", tests=one), "--memory", "100M")
    assert " T time limit exceeded" in line_of(done, "time_limit_exceeded/t.py")
    assert re.search(r" (M memory limit exceeded|R run time error)",
                     line_of(done, "run_time_error/memory.py"))  # fmt: skip
    assert " O output limit exceeded" in line_of(done, "wrong_answer/flood.py")


def test_a_compile_error_shows_the_compilers_words(tmp_path: Path) -> None:
    require_toolchain("c")
    write(tmp_path, {"bad.c": "int main(void) { return undeclared; }"})
    done = judge(plain(tmp_path / "tests"), tmp_path / "bad.c")
    shown = done.stdout.decode()
    assert done.returncode == 1
    assert " compile error\n" in shown
    assert "undeclared" in shown


def test_a_crash_shows_how_it_ended_and_what_it_said(tmp_path: Path) -> None:
    write(tmp_path, {"r.py": CRASH})
    done = judge(plain(tmp_path / "tests"), tmp_path / "r.py")
    assert "  Exit code: 7\n  stderr:\n    oh dear\n" in done.stdout.decode()


# What makes no sense, and what cannot be judged


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--checker", "guess"), "there is no checker 'guess'"),
        (("--checker", "exact", "--tolerance", "1"), "--tolerance means nothing"),
        (("--tolerance", "much"), "--tolerance 'much' is no tolerance"),
        (("--tolerance", "-1"), "--tolerance '-1' is no tolerance"),
        (("--time-limit", "soon"), "--time-limit 'soon'"),
        (("--memory", "0"), "--memory '0'"),
        (("-j", "many"), "--jobs 'many'"),
        (("-l", "pyhton"), "no language is called 'pyhton'"),
        (("--junit", "/no/such/place/x.xml"), "--junit '/no/such/place/x.xml'"),
        (("--isolation", "some"), "--isolation"),
        (("--bogus",), "no such option"),
        (("--", "x"), "only `run` takes arguments"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_usage_errors(tmp_path: Path, args: tuple[str, ...], words: str) -> None:
    write(tmp_path, {"a.py": DOUBLE})
    done = judge(plain(tmp_path / "tests"), tmp_path / "a.py", *args)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words.lower() in done.stderr.decode().lower()


def test_nothing_there(tmp_path: Path) -> None:
    problem = plain(tmp_path / "tests")
    for args, words in (
        ((tmp_path / "nothing",), "there is no problem"),
        ((problem, tmp_path / "nothing.py"), "there is no submission"),
        ((problem,), "brings no submissions of its own"),
    ):
        done = judge(*args)
        assert (done.returncode, done.stdout) == (2, b"")
        assert words in done.stderr.decode()


def test_a_missing_toolchain_is_not_judged_and_not_fine(double: Path) -> None:
    done = judge(double, CODERUNNER_TOOLCHAINS='{"cc": "/no/such/gcc"}')
    assert done.returncode == 3
    assert "not judged: " in line_of(done, "accepted/b.c")
    assert "/no/such/gcc" in done.stdout.decode()
    assert summary(done) == "3 as expected, 1 not judged"


def test_what_is_no_program_is_not_judged(tmp_path: Path) -> None:
    problem = package(tmp_path, {"accepted/a.py": DOUBLE, "accepted/b.cobol": "STOP RUN."})
    done = judge(problem)
    assert done.returncode == 3
    assert "not judged: cannot tell the language" in line_of(done, "accepted/b.cobol")
    # An own failure weighs more than what could not be judged.
    write(problem, {"submissions/accepted/w.py": SQUARE})
    assert judge(problem).returncode == 1


BROKEN = {"output_validator/check.c": "int main(void) { return undeclared; }"}


def test_a_checker_that_does_not_compile_ends_it(tmp_path: Path) -> None:
    require_toolchain("c")
    done = judge(package(tmp_path, {"accepted/a.py": DOUBLE}, more=BROKEN))
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (3, b"")
    assert said.startswith("error: the checker does not compile:\n")
    assert "undeclared" in said
    assert "\nhint: that is the checker's fault, not the submission's: mend it\n" in said


def test_a_checker_that_fails_is_nobodys_verdict(tmp_path: Path) -> None:
    more = {"output_validator/check.py": "raise SystemExit('I am lost')"}
    done = judge(package(tmp_path, {"accepted/a.py": DOUBLE}, more=more))
    assert done.returncode == 1
    assert "J" in line_of(done, "accepted/a.py")
    assert "judge error, expected accepted" in line_of(done, "accepted/a.py")
    assert "the checker failed: Exit code: 1\n    I am lost\n" in done.stdout.decode()


def test_no_engine_no_judging(double: Path) -> None:
    done = judge(double, "--isolation", "vm")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"'vm' is asked for" in done.stderr


def test_another_engine(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": DOUBLE})
    args = ("--engine", "process", "--isolation", "none")
    done = judge(plain(tmp_path / "tests"), tmp_path / "a.py", *args)
    assert done.returncode == 0
    assert b"process engine, isolation none\n" in done.stdout
