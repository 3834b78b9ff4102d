"""Problems in which a submission is run again, with what the validator has written."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.judge.verdict import Verdict
from tests.judge.problem.judged import judged
from tests.judge.problem.making import NEWER
from tests.support import require_sandbox

pytestmark = pytest.mark.engines

# Says the number, then has the program say it once more, with one added; three times in all.
# What it has to remember is in a file, how often it was asked is in the messages.
COUNT = """
import os, sys
given, answer, feedback = sys.argv[1:]
number, output = int(open(given).read()), sys.stdin.read()
place = feedback + "notes/asked"
os.makedirs(feedback + "notes", exist_ok=True)
asked = len(open(place).read()) if os.path.exists(place) else 0
open(place, "a").write("x")
open(feedback + "judgemessage.txt", "a").write(f"asked {asked}: {number}\\n")
assert number == int(open(answer).read()) + asked, "the input is not the next one"
assert not os.path.exists(feedback + "nextpass.in"), "the last input is still there"
if output.strip() != str(number):
    sys.exit(43)
if asked < 2:
    open(feedback + "nextpass.in", "w").write(f"{number + 1}\\n")
sys.exit(42)
"""
ECHO = "print(input())"
STUBBORN = "number = int(input()); print(min(number, 6))"
THREE = NEWER + "type: multi-pass\nlimits: {validation_passes: 3, time_limit: 2}\n"
TEST = {"data/secret/1.in": "5\n", "data/secret/1.ans": "5\n"}


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


async def test_each_pass_has_the_input_that_the_last_one_made(tmp_path: Path) -> None:
    files = {
        **TEST,
        "output_validator/v.py": COUNT,
        "submissions/accepted/a.py": ECHO,
        "submissions/wrong_answer/w.py": STUBBORN,
    }
    found = await judged(tmp_path, files, yaml=THREE)
    assert {name: one.verdict for name, one in found.items()} == {
        "accepted/a.py": Verdict.ACCEPTED,
        "wrong_answer/w.py": Verdict.WRONG_ANSWER,
    }
    [case] = found["accepted/a.py"].cases
    assert case.checked is not None
    assert case.checked.message == "asked 0: 5\nasked 1: 6\nasked 2: 7"
    assert case.checked.next_pass is None
    [case] = found["wrong_answer/w.py"].cases
    assert case.checked is not None
    assert case.checked.message == "asked 0: 5\nasked 1: 6\nasked 2: 7"


async def test_time_is_that_of_the_slowest_pass_and_a_limit_is_one_of_each(tmp_path: Path) -> None:
    slow = "import time\nn = int(input())\nt = time.process_time() + (0.6 if n != 6 else 0)\n"
    slow += "while time.process_time() < t: pass\nprint(n)"
    files = {**TEST, "output_validator/v.py": COUNT, "submissions/accepted/a.py": slow}
    yaml = THREE.replace("time_limit: 2", "time_limit: 1")
    [judgement] = (await judged(tmp_path, files, yaml=yaml)).values()
    assert judgement.verdict is Verdict.ACCEPTED
    assert 600 <= judgement.slowest_ms < 1000


async def test_a_crash_in_a_later_pass(tmp_path: Path) -> None:
    crash = "number = int(input()); print(number if number < 7 else 1 // 0)"
    files = {**TEST, "output_validator/v.py": COUNT, "submissions/run_time_error/r.py": crash}
    [judgement] = (await judged(tmp_path, files, yaml=THREE)).values()
    assert judgement.verdict is Verdict.RUN_TIME_ERROR


@pytest.mark.parametrize(
    ("validator", "why"),
    [
        (COUNT.replace("asked < 2", "True"), "the judge asks for more than 3 passes"),
        (
            COUNT.replace("sys.exit(42)", "sys.exit(43)"),
            "rejected, and another pass is asked for",
        ),
    ],
    ids=["too many", "rejected"],
)
async def test_a_validator_that_asks_for_what_it_may_not(
    tmp_path: Path, validator: str, why: str
) -> None:
    files = {**TEST, "output_validator/v.py": validator, "submissions/accepted/a.py": ECHO}
    [judgement] = (await judged(tmp_path, files, yaml=THREE)).values()
    assert judgement.verdict is Verdict.JUDGE_ERROR
    [case] = judgement.cases
    assert case.message == why


async def test_where_there_is_one_pass_nobody_can_ask_for_another(tmp_path: Path) -> None:
    files = {**TEST, "output_validator/v.py": COUNT, "submissions/accepted/a.py": ECHO}
    [judgement] = (await judged(tmp_path, files, yaml=NEWER)).values()
    assert judgement.verdict is Verdict.ACCEPTED
    [case] = judgement.cases
    assert case.checked is not None
    assert case.checked.message == "asked 0: 5"


async def test_conversations_have_passes_too(tmp_path: Path) -> None:
    host = """
import sys
given, answer, feedback = sys.argv[1:]
number = int(open(given).read())
print(number, flush=True)
if int(input()) != number + 1:
    sys.exit(43)
if number < 7:
    open(feedback + "nextpass.in", "w").write(str(number + 1))
sys.exit(42)
"""
    files = {
        **TEST,
        "output_validator/v.py": host,
        "submissions/accepted/a.py": "print(int(input()) + 1)",
        "submissions/wrong_answer/w.py": "number = int(input()); print(number + (number < 6))",
    }
    yaml = THREE.replace("type: multi-pass", "type: [interactive, multi-pass]")
    found = await judged(tmp_path, files, yaml=yaml)
    [case] = found["accepted/a.py"].cases
    assert case.verdict is Verdict.ACCEPTED
    assert case.transcript == "< 5\n> 6\n---\n< 6\n> 7\n---\n< 7\n> 8"
    [case] = found["wrong_answer/w.py"].cases
    assert case.verdict is Verdict.WRONG_ANSWER
    assert case.transcript == "< 5\n> 6\n---\n< 6\n> 6"
