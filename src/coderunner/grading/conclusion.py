"""From what was planned and what was heard to a result. What was planned and not heard of is an
error: nobody passes by keeping silent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coderunner.grading.plan import Plan, Test
from coderunner.grading.reports import Report, Reports
from coderunner.grading.result import TestResult
from coderunner.judge.verdict import ending
from coderunner.model import Limits, Outcome
from coderunner.sandbox.words import of_limit

Detail = dict[str, Any]


def concluded(plan: Plan, reports: Reports, outcome: Outcome, limits: Limits) -> TestResult:
    missing = _why_missing(reports, outcome, limits)
    details = [detail for test in plan.tests for detail in _details(test, reports, missing)]
    told = {detail["name"] for detail in details} | {test.id for test in plan.tests}
    # Trouble between the tests. What passes has to have been planned.
    extra = (
        item for item, said in reports.of.items() if item not in told and said.status != "passed"
    )
    details += [
        _detail(item, 0, reports.of[item], reports.printed.of.get(item, "")) for item in extra
    ]
    if not plan.tests:
        details.append(_detail("tests", 0, Report("error", _why_no_tests(plan), 0, 0.0), ""))
    return result_of(details, outcome.usage.wall_ms)


def _why_no_tests(plan: Plan) -> str:
    if plan.asserting:
        return f"there are no tests: nobody calls {plan.asserting[0]}(), which holds the asserts"
    return "there are no tests: neither an assert, nor a function or a class of tests"


def result_of(details: list[Detail], total_ms: float) -> TestResult:
    statuses = [detail["status"] for detail in details]
    return TestResult(
        passed=statuses.count("passed"),
        failed=statuses.count("failed"),
        errors=statuses.count("error"),
        details=details,
        total_runtime_ms=round(total_ms, 3),
    )


def refused(plan: Plan | None, why: str) -> TestResult:
    """Nothing was run: each test is an error, or the whole is one."""
    report = Report("error", why, 0, 0.0)
    tests = plan.tests if plan else ()
    details = [_detail(test.name, test.line, report, "") for test in tests]
    return result_of(details or [_detail("tests", 0, report, "")], 0.0)


def _details(test: Test, reports: Reports, missing: _Missing) -> Iterator[Detail]:
    if not test.is_group:
        yield _one(test.id, test.name, test.line, reports, missing)
        return
    found = reports.found.get(test.id, ())
    parametrized = {name.partition("[")[0] for name in found}
    names = dict.fromkeys((*found, *(n for n in test.at_least if n not in parametrized)))
    for name in names or [test.id]:
        yield _one(name, name, test.line, reports, missing)


def _one(item: str, name: str, line: int, reports: Reports, missing: _Missing) -> Detail:
    report, printed = reports.of.get(item), reports.printed.of.get(item, "")
    if report is None:
        report = Report("error", missing.of(item), 0, 0.0)
        if item == missing.current:
            printed = reports.printed.rest
    return _detail(name, line, report, printed)


def _detail(name: str, line: int, report: Report, printed: str) -> Detail:
    return {
        "name": name,
        "status": report.status,
        "message": report.message,
        "line": report.line or line,
        "time_ms": report.time_ms,
        "output": printed,
    }


class _Missing:
    """Why there is no word of a test."""

    def __init__(self, why: str, current: str) -> None:
        self._why = why
        self.current = current  # the test that was running

    def of(self, item: str) -> str:
        return self._why if item == self.current or not self.current else f"not run: {self._why}"


def _why_missing(reports: Reports, outcome: Outcome, limits: Limits) -> _Missing:
    current = next((item for item in reversed(reports.started) if item not in reports.of), "")
    if reports.tripped:
        return _Missing(f"the code reaches into the interpreter: {reports.tripped}", current)
    if reports.trouble:
        return _Missing(f"the code could not be loaded: {reports.trouble}", "")
    if reports.done:
        return _Missing("no result: it was not run", "")
    why = why_ended(outcome, limits)
    if not reports.started:
        why += ", before any test" if reports.loaded else ", while the code was loaded"
    return _Missing(why, current)


def why_ended(outcome: Outcome, limits: Limits) -> str:
    """Of a program that should not have ended yet."""
    how = ending(outcome)
    by_itself = f"the program ended by itself: {how[0].lower()}{how[1:]}"
    return of_limit(outcome.ended_by, limits) or by_itself
