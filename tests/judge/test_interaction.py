"""Two programs that speak with each other: whatever either does, the right one is blamed."""

from __future__ import annotations

import time

import pytest

from coderunner.judge import (
    CheckerProgram,
    Convention,
    Interactor,
    TestCase,
    TestResult,
    TestStatus,
    Verdict,
    interaction,
)
from coderunner.judge.interaction import Transcript
from tests.judge.asking import ask
from tests.support import require_sandbox

pytestmark = pytest.mark.engines

# Thinks of a number, gives twelve guesses.
HOST = """
import sys
number = int(open(sys.argv[1]).read())
for _ in range(12):
    line = sys.stdin.readline()
    if not line.strip().isdigit():
        sys.exit(43)
    guess = int(line)
    if guess == number:
        print("correct", flush=True)
        sys.exit(42)
    print("higher" if guess < number else "lower", flush=True)
sys.exit(43)
"""
GUEST = """
low, high = 1, 1000
while True:
    guess = (low + high) // 2
    print(guess, flush=True)
    answer = input()
    if answer == "correct":
        break
    low, high = (guess + 1, high) if answer == "higher" else (low, guess - 1)
"""


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


async def meet(guest: str, host: str = HOST, *, timeout_ms: int = 1_000) -> TestResult:
    interactor = Interactor(host, "python")
    result = await ask(
        guest, TestCase("t", "700", ""), interactor=interactor, timeout_ms=timeout_ms
    )
    (test,) = result.test_results
    return test


async def test_a_conversation() -> None:
    test = await meet(GUEST)
    assert test.status is TestStatus.PASSED
    assert test.judge_message is not None
    assert test.judge_message.startswith("conversation:\n> 500\n< higher\n> 750\n< lower\n")
    assert test.judge_message.endswith("> 700\n< correct")
    assert test.memory_used_kb > 0


@pytest.mark.parametrize(
    ("guest", "verdict"),
    [
        # it ends too early, too late, or not at all
        ("print(1, flush=True)", Verdict.WRONG_ANSWER),
        ("pass", Verdict.WRONG_ANSWER),
        ("print(1, flush=True); input(); raise ValueError", Verdict.RUN_TIME_ERROR),
        ("raise SystemExit(1)", Verdict.RUN_TIME_ERROR),
        (GUEST + "raise SystemExit(3)", Verdict.RUN_TIME_ERROR),
        (GUEST + "while True: pass", Verdict.TIME_LIMIT),
        (GUEST + "import time; time.sleep(99)", Verdict.TIME_LIMIT),
        ("import time; time.sleep(99)", Verdict.TIME_LIMIT),
        ("print(1, end='', flush=True); input()", Verdict.TIME_LIMIT),
        ("input()", Verdict.TIME_LIMIT),
        ("while True: pass", Verdict.TIME_LIMIT),
        ("import os; os.close(0); os.close(1); import time; time.sleep(99)", Verdict.TIME_LIMIT),
        ("import os, time; os.close(1); time.sleep(0.3); os.abort()", Verdict.RUN_TIME_ERROR),
        # it says too much, or nonsense
        ("for i in range(1, 99): print(i, flush=True); input()", Verdict.WRONG_ANSWER),
        ("while True: print(1, flush=True)", Verdict.WRONG_ANSWER),
        ("import os\nwhile True: os.write(1, bytes(9999))", Verdict.OUTPUT_LIMIT),
        ("print(1, flush=True); x = bytearray(10**9)", Verdict.MEMORY_LIMIT),
    ],
)
async def test_what_a_submission_does_wrong(guest: str, verdict: Verdict) -> None:
    assert (await meet(guest)).verdict is verdict


@pytest.mark.parametrize(
    "host",
    [
        "raise ValueError",
        "import sys; sys.exit(0)",
        "import os; os.abort()",
        "x = bytearray(10**10)",
        "import sys; sys.stdin.readline(); raise ValueError",
        "import os; os.close(1); os.close(0); raise ValueError",
    ],
)
async def test_an_interactor_that_fails_is_nobodys_failure(host: str) -> None:
    test = await meet(GUEST, host)
    assert test.status is TestStatus.JUDGE_ERROR
    assert "the interactor failed" in (test.error_message or "")


@pytest.mark.parametrize("host", ["import time; time.sleep(99)", "while True: pass"])
async def test_nor_is_one_that_is_stuck(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The submission waits for it in vain until its time is over: that is not its fault."""
    monkeypatch.setattr(interaction, "_CONCLUDING_MS", 500)
    assert (await meet(GUEST, host, timeout_ms=500)).status is TestStatus.JUDGE_ERROR


async def test_an_interactor_that_stumbles_over_a_crash_changes_nothing() -> None:
    host = "n = int(input()); print('higher', flush=True); input()"
    test = await meet("print(1, flush=True); input(); raise ValueError", host)
    assert test.verdict is Verdict.RUN_TIME_ERROR


async def test_an_interactor_that_rejects_ends_it() -> None:
    began = time.monotonic()
    guest = "import time; print(1, flush=True); time.sleep(99)"
    test = await meet(guest, "import sys; sys.exit(43)", timeout_ms=60_000)
    assert test.verdict is Verdict.WRONG_ANSWER
    assert time.monotonic() - began < 20


async def test_a_rejection_stands_though_the_submission_crashes_over_it() -> None:
    host = "import sys; input(); sys.exit(43)"
    for _ in range(5):
        assert (await meet(GUEST, host)).verdict is Verdict.WRONG_ANSWER


async def test_a_crash_stands_though_the_interactor_rejects_it() -> None:
    guest = "print(1, flush=True); input(); raise SystemExit(9)"
    for _ in range(5):
        assert (await meet(guest)).verdict is Verdict.RUN_TIME_ERROR


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [("sys.exit(43)", Verdict.WRONG_ANSWER), ("raise ValueError", Verdict.JUDGE_ERROR)],
)
async def test_it_stands_though_the_crash_is_known_first(ends: str, verdict: Verdict) -> None:
    """As on a busy machine: the interactor's last word is long over before its end is known."""
    host = f"import os, sys, time; os.close(1); time.sleep(0.5); {ends}"
    assert (await meet("input()", host, timeout_ms=5_000)).verdict is verdict


async def test_a_crash_after_the_last_word_stands_if_the_interactor_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interaction, "_CONCLUSION_S", 0.5)
    host = "import os, sys; os.close(1); sys.stdin.read(); sys.exit(43)"
    assert (await meet("input()", host, timeout_ms=5_000)).verdict is Verdict.RUN_TIME_ERROR


async def test_who_has_nothing_more_to_say_may_still_listen() -> None:
    host = "import os, sys\nos.close(1)\nsys.exit(42 if sys.stdin.read() == 'bye\\n' else 43)"
    test = await meet("import sys; sys.stdin.read(); print('bye')", host)
    assert test.verdict is Verdict.ACCEPTED


async def test_long_speeches_on_both_sides() -> None:
    """More than any pipe holds, while the other one listens late."""
    guest = "import time; print('x' * 300_000, flush=True); time.sleep(0.3); print(len(input()))"
    host = (
        "import sys, time\ntime.sleep(0.2)\nprint('y' * 300_000, flush=True)\n"
        "first, second = sys.stdin.read().split()\n"
        "sys.exit(42 if (len(first), second) == (300_000, '300000') else 43)"
    )
    assert (await meet(guest, host, timeout_ms=10_000)).verdict is Verdict.ACCEPTED


async def test_testlibs_convention_with_a_checker_that_has_the_last_word() -> None:
    host = (
        "import sys\nprint('hello', flush=True)\n"
        "open(sys.argv[2], 'w').write(sys.stdin.readline())\n"
    )
    checker = CheckerProgram(
        "import sys; sys.exit(0 if open(sys.argv[2]).read() == 'HELLO\\n' else 1)",
        "python",
        Convention.TESTLIB,
    )
    interactor = Interactor(host, "python", Convention.TESTLIB)
    for guest, verdict in (
        ("print(input().upper())", Verdict.ACCEPTED),
        ("print(input())", Verdict.WRONG_ANSWER),
    ):
        result = await ask(guest, ("", ""), interactor=interactor, checker=checker)
        assert result.test_results[0].verdict is verdict


@pytest.mark.parametrize("parallel", [1, 4])
async def test_many_conversations(parallel: int) -> None:
    tests = [TestCase(str(number), str(number), "") for number in range(1, 1000, 90)]
    result = await ask(GUEST, *tests, interactor=Interactor(HOST, "python"), parallel=parallel)
    assert {test.verdict for test in result.test_results} == {Verdict.ACCEPTED}


def test_a_transcript_is_bounded_and_printable() -> None:
    transcript = Transcript()
    transcript.add(">", b"one\ntwo\x1b[2J")
    transcript.add(">", b"more\n")
    transcript.add("<", b"\xff\n")
    assert str(transcript) == "> one\n> two\\x1b[2Jmore\n< \\xff"
    for _ in range(100):
        transcript.add("<", b"x" * 1000)
    assert len(str(transcript)) < 20_000
    assert str(transcript).endswith("\n…")
