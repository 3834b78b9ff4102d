"""Grading in one box: the solution and its tests in one process, as most graders do it."""

from __future__ import annotations

from coderunner.grading.conclusion import concluded
from coderunner.grading.harness import harness
from coderunner.grading.plan import Plan
from coderunner.grading.printed import Printed
from coderunner.grading.reports import Reports
from coderunner.grading.result import TestResult
from coderunner.model import File, Outcome, Program
from coderunner.runner import Runner
from coderunner.sandbox import Sandbox

_PARTS = (
    "__init__", "asserts", "channel", "loading", "pristine", "running", "space", "tripwire",
    "verdicts",
)  # fmt: skip


async def graded_together(
    runner: Runner, sandbox: Sandbox, plan: Plan, solution: bytes
) -> TestResult:
    reports, outcome = await heard_together(runner, sandbox, plan, solution)
    return concluded(plan, reports, outcome, sandbox.limits)


async def heard_together(
    runner: Runner, sandbox: Sandbox, plan: Plan, solution: bytes
) -> tuple[Reports, Outcome]:
    """What was reported, and how the run ended."""
    reports = Reports(Printed(sandbox.max_output_bytes))
    files = (*harness("main", (*_PARTS, *plan.kinds)), File("solution.py", solution))
    result = await runner.run(
        Program("python", (*files, *sandbox.files)),
        limits=sandbox.limits,
        stdin=plan.told(reports.key, reports.printed.mark),
        sink=reports,
    )
    return reports, result.outcome
