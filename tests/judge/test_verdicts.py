"""From the facts of a run to a verdict, and from a verdict to this door's status."""

from __future__ import annotations

import signal

import pytest

from coderunner.judge import TestCase, TestStatus, Verdict
from coderunner.judge.case import Judged
from coderunner.judge.test_runner import in_words
from coderunner.judge.verdict import ending, of_run, shortened
from coderunner.judge.verdict import in_words as why
from coderunner.model import EndedBy, Isolation, Limits, Outcome, Output, Usage

pytestmark = pytest.mark.unit

LIMITS = Limits(memory_mb=64, processes=9, flood_bytes=2048)


def outcome(
    ended_by: EndedBy, *, code: int | None = None, number: int | None = None, stderr: bytes = b""
) -> Outcome:
    usage = Usage(1.2, 3.4, 567)
    output = (Output(b"printed"), Output(stderr))
    return Outcome(ended_by, code, number, usage, *output, Isolation.FULL, "fake")


@pytest.mark.parametrize(
    ("ended_by", "code", "verdict", "status"),
    [
        (EndedBy.EXIT, 0, None, None),
        (EndedBy.EXIT, 1, Verdict.RUN_TIME_ERROR, TestStatus.RUNTIME_ERROR),
        (EndedBy.SIGNAL, None, Verdict.RUN_TIME_ERROR, TestStatus.RUNTIME_ERROR),
        (EndedBy.WALL_TIME, None, Verdict.TIME_LIMIT, TestStatus.TIMEOUT),
        (EndedBy.CPU_TIME, None, Verdict.TIME_LIMIT, TestStatus.TIMEOUT),
        (EndedBy.MEMORY, None, Verdict.MEMORY_LIMIT, TestStatus.MEMORY_EXCEEDED),
        (EndedBy.PROCESSES, None, Verdict.RUN_TIME_ERROR, TestStatus.RUNTIME_ERROR),
        (EndedBy.OUTPUT, None, Verdict.OUTPUT_LIMIT, TestStatus.RUNTIME_ERROR),
        (EndedBy.KILLED, None, Verdict.JUDGE_ERROR, TestStatus.JUDGE_ERROR),
    ],
)
def test_every_ending_has_its_meaning(
    ended_by: EndedBy, code: int | None, verdict: Verdict | None, status: TestStatus | None
) -> None:
    assert of_run(outcome(ended_by, code=code)) is verdict
    if verdict is not None:
        assert in_words(TestCase("t", "", ""), Judged(verdict)).status is status


def test_no_ending_was_forgotten() -> None:
    for ended_by in EndedBy:
        of_run(outcome(ended_by, code=0))
        assert ending(outcome(ended_by, code=0, number=signal.SIGKILL))


def test_every_verdict_on_a_test_has_a_status() -> None:
    for verdict in set(Verdict) - {Verdict.COMPILE_ERROR}:
        in_words(TestCase("t", "", ""), Judged(verdict))


def test_the_reason_is_the_programs_own_if_it_gave_one() -> None:
    crashed = outcome(EndedBy.EXIT, code=1, stderr=b"  Traceback: no!\n")
    assert why(crashed, LIMITS) == "Traceback: no!"
    assert why(outcome(EndedBy.EXIT, code=3), LIMITS) == "Exit code: 3"
    segfault = outcome(EndedBy.SIGNAL, number=signal.SIGSEGV)
    assert why(segfault, LIMITS) == "Ended by signal 11 (SIGSEGV)"
    assert why(outcome(EndedBy.SIGNAL, number=40), LIMITS) == "Ended by signal 40"


def test_the_reason_names_the_limit_whatever_the_program_says() -> None:
    said = b"all is well"
    assert why(outcome(EndedBy.MEMORY, stderr=said), LIMITS) == "Memory limit exceeded (64 MB)"
    assert why(outcome(EndedBy.OUTPUT, stderr=said), LIMITS) == "Output limit exceeded (2 KB)"
    assert why(outcome(EndedBy.PROCESSES), LIMITS) == "Too many processes (more than 9)"
    assert why(outcome(EndedBy.WALL_TIME), LIMITS) == "Test execution timed out"


def test_a_long_message_keeps_both_ends() -> None:
    text = "first" + "x" * 10_000 + "last"
    short = shortened(text, 100)
    assert short.startswith("first")
    assert short.endswith("last")
    assert len(short) < 150
    assert "left out" in short
    assert shortened("short", 100) == "short"


def test_times_are_rounded_up_so_that_no_run_took_nothing() -> None:
    judged = Judged(Verdict.ACCEPTED, outcome(EndedBy.EXIT, code=0))
    result = in_words(TestCase("t", "", ""), judged)
    assert (result.execution_time_ms, result.cpu_time_ms, result.memory_used_kb) == (2, 3.4, 567)
