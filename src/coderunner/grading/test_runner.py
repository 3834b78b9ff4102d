"""TestRunner: code and its tests, run in one box or in two."""

from __future__ import annotations

from coderunner.background import background
from coderunner.grading.apart import graded_apart
from coderunner.grading.conclusion import refused
from coderunner.grading.plan import plan_of
from coderunner.grading.result import TestResult
from coderunner.grading.together import graded_together
from coderunner.sandbox import Sandbox
from coderunner.sandbox.import_check import objection
from coderunner.text import as_bytes

_PYTHON = "python"


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
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return refused(None, f"the tests are no Python: {str(error) or type(error).__name__}")
        runner = await self.sandbox.open_runner()
        policy, python = self.sandbox.policy, runner.languages.get(_PYTHON)
        if policy.allowed is not None and (
            why := await objection(runner, policy, python, solution, self.sandbox.filesystem)
        ):
            return refused(plan, why)
        graded = graded_apart if self.separate else graded_together
        return await graded(runner, self.sandbox, plan, solution)
