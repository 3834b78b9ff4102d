"""`coderunner judge`: limits, a choice of tests, checkers: what its flags do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.judging import doubling, judge, line_of, summary
from tests.cli.packages import DOUBLE, LOOP, SQUARE, package, plain, write
from tests.support import require_sandbox

pytestmark = [pytest.mark.cli, pytest.mark.engines]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


@pytest.fixture
def double(tmp_path: Path) -> Path:
    return doubling(tmp_path)


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


def test_a_test_may_have_a_time_limit_of_its_own(tmp_path: Path) -> None:
    tests = [{"id": "t", "input": "", "expected_output": "", "timeout_ms": 300}]
    (tmp_path / "p.json").write_text(json.dumps({"test_cases": tests, "timeout_ms": 9000}))
    (tmp_path / "l.py").write_text(LOOP)
    told = judge(tmp_path / "p.json", tmp_path / "l.py").stdout
    assert b"more than 300 ms of cpu time" in told
