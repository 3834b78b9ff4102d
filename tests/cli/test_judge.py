"""`coderunner judge`: what is judged, what each flag does, with which exit code it ends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.console import Done, coderunner, environment
from tests.cli.packages import CRASH, DOUBLE, DOUBLE_IN_C, LOOP, SQUARE, package, plain, write
from tests.support import require_sandbox, require_toolchain

pytestmark = [pytest.mark.cli, pytest.mark.engines]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


def judge(*args: object, **options: str) -> Done:
    return coderunner("judge", *map(str, args), env=environment(**options))


def line_of(done: Done, name: str) -> str:
    """The line that a submission has, with single spaces."""
    lines = done.stdout.decode().splitlines()
    found = [line for line in lines if line.split()[:1] == [name]]
    assert len(found) == 1, done
    return " ".join(found[0].split())


def summary(done: Done) -> str:
    last = done.stdout.decode().splitlines()[-1]
    match = re.fullmatch(r"=+ (.*) in [\d.]+s =+", last)
    assert match, done
    return match[1]


@pytest.fixture
def double(tmp_path: Path) -> Path:
    require_toolchain("c")
    return package(
        tmp_path / "double",
        {
            "accepted/a.py": DOUBLE,
            "accepted/b.c": DOUBLE_IN_C,
            "wrong_answer/w.py": SQUARE,
            "run_time_error/r.py": CRASH,
        },
    )


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


# Limits


def test_time_limit_is_a_flag(tmp_path: Path) -> None:
    slow = f"import time\nwhile time.process_time() < 0.8: pass\n{DOUBLE}"
    write(tmp_path, {"slow.py": slow})
    problem = plain(tmp_path / "tests", {"1": ("2", "4")})
    too_slow = judge(problem, tmp_path / "slow.py", "--time-limit", "300ms")
    shown = too_slow.stdout.decode()
    assert too_slow.returncode == 1
    assert "time limit 300 ms (--time-limit)" in shown
    assert "  it used more than 300 ms of cpu time\n" in shown
    assert judge(problem, tmp_path / "slow.py", "--time-limit", "5s").returncode == 0


def test_who_only_waits_runs_out_of_the_clocks_time(tmp_path: Path) -> None:
    write(tmp_path, {"sleep.py": "import time; time.sleep(60)"})
    problem = plain(tmp_path / "tests", {"1": ("2", "4")})
    done = judge(problem, tmp_path / "sleep.py", "--time-limit", "100ms")
    assert re.search(r"it was stopped after 1\.2\d* s on the clock; the limit is 100 ms",
                     done.stdout.decode())  # fmt: skip


def test_without_a_time_limit_the_accepted_ones_set_it(tmp_path: Path) -> None:
    files = {"accepted/a.py": DOUBLE, "time_limit_exceeded/t.py": LOOP}
    done = judge(package(tmp_path, files, time_limit=None))
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert re.search(
        r"^time limit 1 s \(2 × \d+ ms of accepted/a\.py, rounded up\)$", shown, re.MULTILINE
    )
    assert shown.count("accepted/a.py  ") == 1  # run once, not twice


def test_for_a_named_one_too(tmp_path: Path) -> None:
    problem = package(tmp_path / "p", {"accepted/a.py": DOUBLE}, time_limit=None)
    write(tmp_path, {"mine.py": DOUBLE})
    done = judge(problem, tmp_path / "mine.py")
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert "ms of accepted/a.py, rounded up)" in shown
    assert summary(done) == "1 accepted"


def test_an_example_that_is_not_accepted_is_told_of(tmp_path: Path) -> None:
    problem = package(tmp_path / "p", {"accepted/w.py": SQUARE}, time_limit=None)
    write(tmp_path, {"mine.py": DOUBLE})
    done = judge(problem, tmp_path / "mine.py")
    said = done.stderr.decode()
    assert done.returncode == 0
    assert "accepted/w.py does not set the time limit: it is not accepted (wrong answer" in said
    assert "time limit 2 s (by default)" in said


def test_nobody_knows_the_time_limit(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": DOUBLE})
    done = judge(plain(tmp_path / "tests"), tmp_path / "a.py")
    assert b"none sets an example: time limit 2 s (by default)\n" in done.stderr
    assert judge(plain(tmp_path / "tests"), tmp_path / "a.py", "-q").stderr == b""


def test_memory_is_a_flag(tmp_path: Path) -> None:
    write(tmp_path, {"big.py": f"x = bytearray(150 << 20)\n{DOUBLE}"})
    problem = plain(tmp_path / "tests", {"1": ("2", "4")})
    assert b", 64 MB, " in (done := judge(problem, tmp_path / "big.py", "--memory", "64M")).stdout
    assert done.returncode == 1
    assert judge(problem, tmp_path / "big.py", "--memory", "512M").returncode == 0


# Which tests, how many at once, how far


@pytest.mark.parametrize(("pattern", "count"), [("sample", 1), ("secret/*", 2), ("*/1", 2)])
def test_only_some_of_the_tests(double: Path, pattern: str, count: int) -> None:
    done = judge(double, "accepted/a.py", "-k", pattern)
    assert f"accepted/a.py {'.' * count} accepted" in line_of(done, "accepted/a.py")


def test_a_pattern_that_fits_nothing(double: Path) -> None:
    done = judge(double, "--tests", "nothing")
    assert done.returncode == 2
    assert done.stderr == (
        b"error: no test's name fits 'nothing'\nhint: there are sample/1, secret/1, secret/2\n"
    )


@pytest.mark.parametrize("jobs", ["2", "auto"])
def test_many_at_once_find_the_same(tmp_path: Path, jobs: str) -> None:
    tests = {f"secret/{n}": (str(n), str(2 * n)) for n in (2, 0, 2, 3, 4, 5)}
    problem = package(tmp_path, {"wrong_answer/w.py": SQUARE}, tests=tests)
    assert " ..W-- wrong answer" in line_of(judge(problem, "-j", jobs), "wrong_answer/w.py")


def test_many_tests_are_counted(tmp_path: Path) -> None:
    tests = {str(n): ("2", "4") if n != 57 else ("3", "6") for n in range(60)}
    write(tmp_path, {"w.py": SQUARE})
    done = judge(plain(tmp_path / "tests", tests), tmp_path / "w.py", "-j2")
    assert " .×57 W -×2 wrong answer" in line_of(done, str(tmp_path / "w.py"))


def test_fail_fast_stops_at_the_first_that_is_no_good(tmp_path: Path) -> None:
    files = {"accepted/a.py": DOUBLE, "accepted/w.py": SQUARE, "accepted/z.py": DOUBLE}
    done = judge(package(tmp_path, files), "-x")
    assert done.returncode == 1
    assert summary(done) == "1 as expected, 1 not, 1 not run"
    assert b"z.py" not in done.stdout


# Checkers


@pytest.mark.parametrize(
    ("printed", "kind", "accepted"),
    [
        ("One 2", "normalized", False),
        ("One 2", "ignore_case", True),
        ("one  2", "tokens", True),
        ("one 2", "normalized", True),
        ("one 2", "exact", True),
        ("one 2 ", "exact", False),
        ("2 one", "unordered_lines", False),
    ],
)
def test_checkers(tmp_path: Path, printed: str, kind: str, accepted: bool) -> None:
    write(tmp_path, {"a.py": f"print({printed!r})"})
    problem = plain(tmp_path / "tests", {"1": ("", "one 2")})
    done = judge(problem, tmp_path / "a.py", "--checker", kind)
    assert done.returncode == (0 if accepted else 1), done


def test_tolerance(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "print(3.1416)"})
    problem = plain(tmp_path / "tests", {"1": ("", "3.14159")})
    assert judge(problem, tmp_path / "a.py").returncode == 1
    for args in (("--tolerance", "1e-4"), ("--checker", "tokens", "--tolerance", "1e-4")):
        assert judge(problem, tmp_path / "a.py", *args).returncode == 0
    assert judge(problem, tmp_path / "a.py", "--tolerance", "1e-9").returncode == 1


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
