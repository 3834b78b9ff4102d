"""TestRunner: code and its tests, run together in one box."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib import resources

from coderunner.background import background
from coderunner.grading.conclusion import concluded, refused
from coderunner.grading.plan import Plan, plan_of
from coderunner.grading.reports import Reports
from coderunner.grading.result import TestResult
from coderunner.model import File, Program
from coderunner.sandbox import Sandbox
from coderunner.sandbox.import_check import objection
from coderunner.text import as_bytes

_PYTHON = "python"
_ALWAYS = ("__init__", "asserts", "pristine")


class TestRunner:
    """Grades code by test code: asserts, functions, classes of unittest's, pytest.

    The sandbox's time limit is for all tests of a run together. Of its imports only a list of your
    own binds what is graded; the tests may import what they like.
    """

    __test__ = False  # it is not one of pytest's

    def __init__(self, sandbox: Sandbox | None = None) -> None:
        self.sandbox = sandbox or Sandbox()

    def __repr__(self) -> str:
        return f"TestRunner({self.sandbox!r})"

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
        policy, python = self.sandbox.policy, runner.languages.get(_PYTHON)
        if policy.allowed is not None and (
            why := await objection(runner, policy, python, solution, self.sandbox.filesystem)
        ):
            return refused(plan, why)
        reports = Reports(self.sandbox.max_output_bytes)
        files = (*_harness(plan), File("solution.py", solution), *self.sandbox.files)
        result = await runner.run(
            Program(_PYTHON, files, (repr({"kinds": plan.kinds, "imports": plan.imports}),)),
            limits=self.sandbox.limits,
            stdin=_tests(plan, reports),
            sink=reports,
        )
        return concluded(plan, reports, result.outcome, self.sandbox.limits)


async def _tests(plan: Plan, reports: Reports) -> AsyncIterator[bytes]:
    """What the box is told, once the graded code is loaded and can not be in the way any more."""
    await reports.loaded.wait()
    said = {
        "proof": reports.proof.encode(),
        "mark": reports.mark,
        "source": plan.source,
        "statements": plan.statements,
        "functions": plan.functions,
        "groups": plan.groups,
        "asked": plan.asked,
    }
    yield repr(said).encode()


def _harness(plan: Plan) -> tuple[File, ...]:
    folder = resources.files("coderunner.grading.inside")
    parts = [(name, f"_grading/{name}.py") for name in (*_ALWAYS, *plan.kinds)]
    return tuple(
        File(where, folder.joinpath(f"{name}.py").read_bytes())
        for name, where in [("main", "main.py"), *parts]
    )
