"""Grading a small problem by its asserts: in one box and in two, beside a bare run of the same
file, which says no more than whether all held."""

from __future__ import annotations

from bench.bare import RunFailed
from bench.measure import Once
from coderunner.grading.apart import graded_apart
from coderunner.grading.plan import plan_of
from coderunner.grading.together import heard_together
from coderunner.runner import Runner
from coderunner.sandbox import Sandbox

SOLUTION = """
def merged(left, right):
    result = []
    while left and right:
        result.append((left if left[0] <= right[0] else right).pop(0))
    return result + left + right
"""
TESTS = """
assert merged([], []) == []
assert merged([1, 3], [2]) == [1, 2, 3]
assert merged(["a"], ["b"]) == ["a", "b"]
"""


_CODE = SOLUTION.encode()


def together(runner: Runner) -> Once:
    async def once() -> bool:
        reports, outcome = await heard_together(runner, Sandbox(), plan_of(TESTS), _CODE)
        if [report.status for report in reports.of.values()] != ["passed"] * 3:
            raise RunFailed(str(reports.of))
        return outcome.warm

    return once


def apart(runner: Runner) -> Once:
    async def once() -> bool:
        result = await graded_apart(runner, Sandbox(), plan_of(TESTS), _CODE)
        if result.passed != 3:
            raise RunFailed(str(result))
        return False  # nobody asks: it is not the row for that

    return once
