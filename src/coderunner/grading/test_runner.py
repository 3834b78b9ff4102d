"""TestRunner: code and its tests, run together in one box."""

from __future__ import annotations

from coderunner.background import background
from coderunner.grading.apart import graded_apart
from coderunner.grading.conclusion import concluded, refused
from coderunner.grading.harness import harness
from coderunner.grading.plan import Plan, plan_of
from coderunner.grading.printed import Printed
from coderunner.grading.reports import Reports
from coderunner.grading.result import TestResult
from coderunner.model import File, Program
from coderunner.runner import Runner
from coderunner.sandbox import Sandbox
from coderunner.text import as_bytes

_PYTHON = "python"
_PARTS = (
    "__init__", "asserts", "channel", "loading", "pristine", "running", "space",
    "tripwire", "verdicts",
)  # fmt: skip


class TestRunner:
    """Grades code by test code: asserts, functions, classes of unittest's, pytest.

    The sandbox's time limit is for all tests of a run together. Of its imports only a list of your
    own binds what is graded; the tests may import what they like.
    """

    __test__ = False  # it is not one of pytest's

    def __init__(self, sandbox: Sandbox | None = None, *, separate: bool = False) -> None:
        """With `separate`, tests and code run in two boxes, for code that may want to forge its
        grade: functions whose arguments and results are plain data."""
        self.sandbox = sandbox or Sandbox()
        self.separate = separate

    def __repr__(self) -> str:
        return f"TestRunner({self.sandbox!r}{', separate=True' if self.separate else ''})"

    def run_tests(self, user_code: str, test_code: str) -> TestResult:
        """What is wrong with either is told in the result."""
        return background().call(self._run_tests(user_code, test_code))

    async def run_tests_async(self, user_code: str, test_code: str) -> TestResult:
        """The same for asyncio code."""
        return await background().hand_over(self._run_tests(user_code, test_code))

    async def _run_tests(self, user_code: str, test_code: str) -> TestResult:
        solution = as_bytes(user_code, "the code")
        try:
            plan = plan_of(as_bytes(test_code, "the tests").decode())
        except (SyntaxError, ValueError) as error:
            return refused(None, f"the tests are no Python: {error}")
        runner = await self.sandbox.open_runner()
        policy, reader = self.sandbox.policy, runner.languages.get(_PYTHON).imports
        if policy.allowed is not None and (
            why := policy.objection(reader, solution, self.sandbox.filesystem)
        ):
            return refused(plan, why)
        if self.separate:
            return await graded_apart(runner, self.sandbox, plan, solution)
        return await self._together(runner, plan, solution)

    async def _together(self, runner: Runner, plan: Plan, solution: bytes) -> TestResult:
        reports = Reports(Printed(self.sandbox.max_output_bytes))
        files = (*harness("main", (*_PARTS, *plan.kinds)), File("solution.py", solution))
        result = await runner.run(
            Program(_PYTHON, (*files, *self.sandbox.files)),
            limits=self.sandbox.limits,
            stdin=plan.told(reports.key, reports.printed.mark),
            sink=reports,
        )
        return concluded(plan, reports, result.outcome, self.sandbox.limits)
