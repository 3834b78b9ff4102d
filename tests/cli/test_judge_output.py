"""`coderunner judge`: JSON, JUnit, more and fewer words, and what an author may see."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.cli.judging import doubling, judge
from tests.cli.packages import CRASH, DOUBLE, SECRET, SQUARE, package
from tests.support import require_sandbox, require_toolchain

pytestmark = [pytest.mark.cli, pytest.mark.engines]

TELLS = f"""
import sys
n = int(input())
if n == {SECRET}:
    print("I have read", n, file=sys.stderr)
    sys.exit(n % 256)
print(2 * n)
"""
ANSI = "print(input() + '\\x1b[31m\\x07')"


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


@pytest.fixture
def double(tmp_path: Path) -> Path:
    return doubling(tmp_path)


def as_json(*args: object) -> Any:
    done = judge(*args, "--json")
    assert done.stderr == b""
    return json.loads(done.stdout)


def junit(tmp_path: Path, *args: object) -> ET.Element:
    path = tmp_path / "report.xml"
    judge(*args, "--junit", path)
    assert path.read_bytes().endswith(b">\n")
    return ET.fromstring(path.read_bytes())


# JSON


def test_json_says_all_that_is_known(double: Path) -> None:
    found = as_json(double)
    assert (found["ok"], found["exit_code"], found["tests"]) == (True, 0, 3)
    assert found["time_limit"]["ms"] == 2000
    accepted, in_c, crashed, wrong = found["submissions"]
    assert accepted["verdict"] == "accepted"
    assert in_c["compilation"]["ok"]
    assert (crashed["verdict"], crashed["first_failed"]) == ("run_time_error", "sample/1")
    assert crashed["tests"][0]["exit_code"] == 7
    assert crashed["tests"][0]["stderr"] == "oh dear\n"
    assert wrong["expected"] == ["wrong_answer"]
    assert "expected | 6" in wrong["tests"][1]["difference"]
    assert [test["verdict"] for test in wrong["tests"]] == ["accepted", "wrong_answer", "skipped"]
    for submission in found["submissions"]:
        assert submission["time_ms"] > 0
        assert submission["memory_peak_kb"] > 100


def test_json_says_that_something_is_no_good(tmp_path: Path) -> None:
    found = as_json(package(tmp_path / "p", {"accepted/w.py": SQUARE}))
    assert (found["ok"], found["exit_code"]) == (False, 1)
    assert found["submissions"][0]["as_expected"] is False


# JUnit


def test_junit_has_a_suite_for_each_and_no_failure_if_all_is_as_expected(
    double: Path, tmp_path: Path
) -> None:
    root = junit(tmp_path, double)
    assert [suite.get("name") for suite in root] == [
        "accepted/a.py",
        "accepted/b.c",
        "run_time_error/r.py",
        "wrong_answer/w.py",
    ]
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("12", "0", "3")
    assert "as it may be" in (root.findtext(".//system-out") or "")


def test_junit_has_a_failure_for_what_is_not(tmp_path: Path) -> None:
    files = {"accepted/w.py": SQUARE, "wrong_answer/a.py": DOUBLE, "accepted/x.zz": ""}
    root = junit(tmp_path, package(tmp_path / "p", files))
    by_name = {suite.get("name"): suite for suite in root}
    failure = by_name["accepted/w.py"].find("testcase/failure")
    assert failure is not None
    assert "expected | 6" in (failure.text or "")
    accepted = by_name["wrong_answer/a.py"].find("testcase[@name='verdict']/failure")
    assert accepted is not None
    assert accepted.get("message") == "accepted, expected wrong answer"
    not_judged = by_name["accepted/x.zz"].find("testcase[@name='verdict']/error")
    assert not_judged is not None


def test_a_place_that_cannot_be_written_is_known_before(double: Path) -> None:
    done = judge(double, "--junit", double / "no/such/report.xml")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"cannot be written" in done.stderr


# More words, and fewer


def test_quiet_says_what_is_no_good(tmp_path: Path) -> None:
    problem = package(tmp_path / "p", {"accepted/a.py": DOUBLE, "accepted/w.py": SQUARE})
    lines = judge(problem, "-q").stdout.decode().splitlines()
    assert not any("a.py" in line for line in lines)
    assert lines[0].startswith("accepted/w.py")
    assert "1 as expected, 1 not" in lines[-1]


def test_verbose_has_a_line_for_each_test_and_shows_all_that_failed(tmp_path: Path) -> None:
    more = {"data/testdata.yaml": "on_reject: continue\n"}
    problem = package(tmp_path / "p", {"accepted/w.py": SQUARE}, more=more)
    told = judge(problem, "-v").stdout.decode()
    for line in ("    sample/1  accepted", "    secret/1  wrong answer", "test secret/2: wrong"):
        assert line in told
    assert "test secret/2" not in judge(problem).stdout.decode()


@pytest.mark.parametrize("how", [(), ("--json",), ("-v",)])
def test_no_escape_code_of_a_program_gets_out(tmp_path: Path, how: tuple[str, ...]) -> None:
    problem = package(tmp_path / "p", {"accepted/a.py": ANSI})
    report = tmp_path / "report.xml"
    done = judge(problem, *how, "--junit", report)
    assert b"x1b[31m" in done.stdout
    for shown in (done.stdout, report.read_bytes()):
        assert b"\x1b" not in shown
        assert b"\x07" not in shown


# What an author may see


@pytest.mark.parametrize("how", [(), ("--json",), ("-v",)])
def test_of_hidden_tests_an_author_sees_nothing(tmp_path: Path, how: tuple[str, ...]) -> None:
    more = {"data/testdata.yaml": "on_reject: continue\n"}
    submissions = {"accepted/t.py": TELLS, "accepted/w.py": SQUARE}
    problem = package(tmp_path / "p", submissions, more=more)
    report = tmp_path / "report.xml"
    known = (SECRET, "108642", "49", "I have read")  # 54321 % 256 is 49
    everything = judge(problem, *how, "--junit", report).stdout.decode() + report.read_text()
    assert SECRET in everything or "I have read" in everything
    shown = judge(problem, *how, "--for-author", "--junit", report).stdout.decode()
    assert "run time error" in shown or "run_time_error" in shown
    for text in (shown, report.read_text()):
        assert not [word for word in known[:2] + known[3:] if word in text]
        assert '"exit_code": 49' not in text
        assert "Exit code: 49" not in text


def test_of_samples_an_author_sees_everything(tmp_path: Path) -> None:
    problem = package(tmp_path / "p", {"accepted/r.py": CRASH})
    shown = judge(problem, "--for-author").stdout.decode()
    assert "Exit code: 7" in shown
    assert "oh dear" in shown


def test_a_checkers_code_is_not_the_authors_to_see(tmp_path: Path) -> None:
    require_toolchain("c")
    more = {"output_validator/v.c": f"int the_answer_is_{SECRET} = no_such_thing;\n"}
    problem = package(tmp_path / "p", {"accepted/a.py": DOUBLE}, more=more)
    assert SECRET.encode() in judge(problem).stderr
    done = judge(problem, "--for-author")
    assert done.returncode == 3
    assert SECRET.encode() not in done.stdout + done.stderr
