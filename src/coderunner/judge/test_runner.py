"""Test cases against a program that is ready to run."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from coderunner.build import Build
from coderunner.engines.base import State
from coderunner.judge.case import Case, Judged
from coderunner.judge.defaults import defaults
from coderunner.judge.from_request import case_limits, case_of
from coderunner.judge.groups import Group
from coderunner.judge.groups import skips as skips_of
from coderunner.judge.judges import Judges
from coderunner.judge.request import TestCase
from coderunner.judge.result import TestResult, TestStatus
from coderunner.judge.schedule import Schedule, none_skipped
from coderunner.judge.verdict import Verdict
from coderunner.model import Limits, Output
from coderunner.runner import Runner

_KIB = 1024

Told = Callable[[TestResult], Coroutine[Any, Any, None]]

_STATUS = {
    Verdict.ACCEPTED: TestStatus.PASSED,
    Verdict.WRONG_ANSWER: TestStatus.WRONG_ANSWER,
    Verdict.RUN_TIME_ERROR: TestStatus.RUNTIME_ERROR,
    Verdict.OUTPUT_LIMIT: TestStatus.RUNTIME_ERROR,
    Verdict.TIME_LIMIT: TestStatus.TIMEOUT,
    Verdict.MEMORY_LIMIT: TestStatus.MEMORY_EXCEEDED,
    Verdict.JUDGE_ERROR: TestStatus.JUDGE_ERROR,
    Verdict.SKIPPED: TestStatus.SKIPPED,
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What every test may use."""

    timeout_ms: int
    total_timeout_ms: int
    memory_limit_mb: int = 256
    cpu_limit: float = 1.0
    output_limit_kb: int = 8192
    keep_output_kb: int = 64


class TestRunner:
    """Runs test cases against code."""

    __test__ = False

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    async def run_tests(
        self,
        build: Build,
        test_cases: Sequence[TestCase],
        bounds: Bounds,
        judges: Judges,
        *,
        parallel: int = 1,
        group: Group | None = None,
        told: Told | None = None,
    ) -> list[Judged]:
        """Each in a fresh sandbox. What has had no time when the total runs out, has timed out."""
        limits = await self._limits(bounds)
        cases = [_case(test, limits, bounds) for test in test_cases]
        attempt = judges.attempt(build, keep_bytes=bounds.keep_output_kb * _KIB)

        async def tell(index: int, judged: Judged) -> None:
            if told is not None:
                await told(in_words(test_cases[index], judged))

        skips = skips_of(group) if group else none_skipped
        schedule = Schedule(parallel, bounds.total_timeout_ms, skips, tell)
        return await schedule.run(attempt, cases)

    async def _limits(self, bounds: Bounds) -> Limits:
        limits = case_limits(bounds.memory_limit_mb, defaults().processes)
        return limits.but({"cpus": bounds.cpu_limit} if await self._throttles() else {})

    async def _throttles(self) -> bool:
        """Whether cores can be limited here. Where not, cpu time is what is bounded."""
        controls = (await self.runner.engine.capabilities()).controls
        return any(c.name == "cpus" and c.state is State.ENFORCED for c in controls)


def _case(test: TestCase, limits: Limits, bounds: Bounds) -> Case:
    wall_ms = test.timeout_ms or bounds.timeout_ms
    changes = {"wall_ms": wall_ms}
    if limits.cpus is None:
        changes["cpu_ms"] = math.ceil(wall_ms * bounds.cpu_limit)
    return case_of(test, limits.but(changes), bounds.output_limit_kb)


def in_words(test: TestCase, judged: Judged) -> TestResult:
    """A verdict on a test case, in this door's vocabulary."""
    outcome, checked = judged.outcome, judged.checked
    usage = outcome.usage if outcome else None
    difference = checked.difference if checked else None
    return TestResult(
        test_id=test.id,
        status=_STATUS[judged.verdict],
        actual_output=_text(outcome.stdout) if outcome else "",
        expected_output=test.expected_output,
        execution_time_ms=math.ceil(usage.wall_ms) if usage else 0,
        memory_used_kb=usage.memory_peak_kb if usage else 0,
        error_message=judged.message or None,
        cpu_time_ms=round(usage.cpu_ms, 3) if usage else 0.0,
        verdict=judged.verdict,
        difference=None if difference is None else str(difference),
        feedback=(checked.to_author or None) if checked else None,
        judge_message=_for_judges(judged),
        stderr=_text(outcome.stderr) if outcome else "",
        exit_code=outcome.exit_code if outcome else None,
        signal=outcome.signal if outcome else None,
        is_hidden=test.is_hidden,
    )


def _for_judges(judged: Judged) -> str | None:
    said = judged.checked.message if judged.checked else ""
    conversation = f"conversation:\n{judged.transcript}" if judged.transcript else ""
    return "\n".join(part for part in (said, conversation) if part) or None


def _text(output: Output) -> str:
    left_out = f"\n[{output.dropped} bytes left out]" if output.dropped else ""
    return output.text + left_out
