"""Grading in two boxes: the tests in one, the solution in another, and calls between them.

    tests ── call ──▶ _Tests ──▶ stdin ── solution
          ◀── stdin ── _Solution ◀── answer ──

We are the middle. What the solution says is data for the tests, whatever it is; the box that says
what has passed has never run a line of it.
"""

from __future__ import annotations

import asyncio

from coderunner.cancelling import cancel
from coderunner.feed import Feed
from coderunner.grading.conclusion import concluded, why_ended
from coderunner.grading.harness import harness
from coderunner.grading.plan import Plan
from coderunner.grading.printed import Printed
from coderunner.grading.reports import Lines, Reports
from coderunner.grading.result import TestResult
from coderunner.model import File, Limits, Outcome, Program, Stream
from coderunner.runner import Runner
from coderunner.sandbox import Sandbox

_FOR_TESTS = (
    "__init__", "asserts", "channel", "loading", "plain", "pristine", "remote", "running",
    "space", "tripwire", "verdicts",
)  # fmt: skip
_FOR_SOLUTION = ("__init__", "channel", "loading", "plain", "verdicts")
_LONGEST_LINE = 16 << 20
_CONCLUDING_MS = (
    2_000  # for the tests to say what has passed, once the solution has run out of time
)
_GOODBYE_S = 0.5  # for a solution to end by itself, when nothing more is asked


class _Solution:
    """A sink for the solution's box: its answers go to the tests."""

    def __init__(self, tests: Feed, keep_bytes: int) -> None:
        self.printed = Printed(keep_bytes)
        self._reports = Reports(self.printed)
        self.key = self._reports.key
        self._tests = tests
        self._lines = Lines(_LONGEST_LINE)

    async def __call__(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDERR:
            self.printed.feed(chunk)
            return
        for line in self._lines.cut(chunk):
            proof, _, said = line.partition(b" ")
            kind, _, answer = said.partition(b" ")
            if kind in (b"surface", b"answer") and self._reports.is_genuine(proof, said):
                await self._tests.put(answer + b"\n")


class _Tests(Reports):
    """A sink for the tests' box: its calls go to the solution, the rest are reports."""

    def __init__(self, solution: Feed, keep_bytes: int) -> None:
        super().__init__(Printed(keep_bytes), longest_line=_LONGEST_LINE)
        self._solution = solution
        self._callers: dict[str, str] = {}  # which test has asked what

    async def hear(self, line: bytes) -> None:
        proof, _, said = line.partition(b" ")
        kind, _, question = said.partition(b" ")
        if kind != b"call" or not self.is_genuine(proof, said):
            await super().hear(line)
            return
        number = question.partition(b" ")[0].decode()
        self._callers[number] = self.started[-1] if self.started else ""
        await self._solution.put(question + b"\n")

    def add(self, printed: Printed) -> None:
        """What the solution has printed, to the tests that have called it meanwhile."""
        parts = [(self._callers.get(number, ""), text) for number, text in printed.of.items()]
        last = next(reversed(self._callers.values()), "")
        for item, text in (*parts, (last, printed.rest)):
            if text:
                self.printed.of[item] = self.printed.of.get(item, "") + text


class _Apart:
    def __init__(self, runner: Runner, sandbox: Sandbox, plan: Plan, solution: bytes) -> None:
        self._runner, self._sandbox, self._plan = runner, sandbox, plan
        self._code = File("solution.py", solution)
        self._to_tests, self._to_solution = Feed(), Feed()
        self._solution = _Solution(self._to_tests, sandbox.max_output_bytes)
        self._tests = _Tests(self._to_solution, sandbox.max_output_bytes)

    async def graded(self) -> TestResult:
        solution = asyncio.create_task(self._serve())
        try:
            outcome = await self._test()
            self._to_solution.close()
            await asyncio.wait({solution}, timeout=_GOODBYE_S)
        finally:
            await cancel({solution})
        if not solution.cancelled():
            solution.result()  # an engine that has failed is not the solution's fault
        self._tests.add(self._solution.printed)
        return concluded(self._plan, self._tests, outcome, self._sandbox.limits)

    async def _test(self) -> Outcome:
        told = self._plan.told(self._tests.key, self._tests.printed.mark, separate=True)
        await self._to_tests.put(told)
        result = await self._runner.run(
            Program("python", (*harness("main", (*_FOR_TESTS, *self._plan.kinds)), *self._files)),
            limits=self._longer(),
            stdin=self._to_tests.listen(),
            sink=self._tests,
        )
        return result.outcome

    async def _serve(self) -> None:
        """Whatever ends it, the tests hear of it."""
        why = "its box has failed"
        try:
            key, mark = self._solution.key, self._solution.printed.mark
            await self._to_solution.put(Plan.nothing().told(key, mark))
            result = await self._runner.run(
                Program("python", (*harness("served", _FOR_SOLUTION), self._code, *self._files)),
                limits=self._sandbox.limits,
                stdin=self._to_solution.listen(),
                sink=self._solution,
            )
            why = why_ended(result.outcome, self._sandbox.limits)
        finally:
            await self._to_tests.put(f"gone {why}\n".encode())

    @property
    def _files(self) -> tuple[File, ...]:
        return self._sandbox.files

    def _longer(self) -> Limits:
        limits = self._sandbox.limits
        most = self._runner.settings.ceiling.wall_ms
        return limits.but({"wall_ms": min(limits.wall_ms + _CONCLUDING_MS, most)})


async def graded_apart(runner: Runner, sandbox: Sandbox, plan: Plan, solution: bytes) -> TestResult:
    return await _Apart(runner, sandbox, plan, solution).graded()
