"""From the results of tests to the status, the summary and the error of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coderunner.judge.result import (
    HIDDEN,
    ExecutionError,
    ExecutionResult,
    ExecutionStatus,
    TestResult,
    TestStatus,
    View,
)

CHECKER_ERROR = "CHECKER_ERROR"
_DETAILS = 500  # characters of the output of the first test that failed

# If none has passed: the first of these that any test has.
_PRECEDENCE = (
    (TestStatus.TIMEOUT, ExecutionStatus.TIMEOUT),
    (TestStatus.MEMORY_EXCEEDED, ExecutionStatus.MEMORY_EXCEEDED),
    (TestStatus.RUNTIME_ERROR, ExecutionStatus.RUNTIME_ERROR),
)


def concluded(result: ExecutionResult) -> ExecutionResult:
    """With status, summary and error as they follow from its tests. They are made of nothing but
    what the tests' results say, so what is hidden in those is hidden here."""
    tests = result.test_results
    status = _status(tests)
    return replace(
        result, status=status, summary=_summary(status, tests), error_info=_error(status, tests)
    )


def told_to_author(result: ExecutionResult) -> ExecutionResult:
    result = replace(result, view=View.AUTHOR)
    if result.test_results:
        tests = [test.for_author() for test in result.test_results]
        return concluded(replace(result, test_results=tests))
    error = result.error_info
    if error is not None and error.code == CHECKER_ERROR:
        # A compiler quotes what it does not like, and that is the checker's code.
        error = replace(error, message="The checker cannot be used", details=None)
        return replace(result, error_info=error, summary=error.message)
    return result


def _status(tests: Sequence[TestResult]) -> ExecutionStatus:
    found = [test.status for test in tests]
    passed = found.count(TestStatus.PASSED)
    if TestStatus.JUDGE_ERROR in found:
        return ExecutionStatus.SANDBOX_ERROR
    if passed == len(found):
        return ExecutionStatus.ALL_PASSED
    if passed:
        return ExecutionStatus.SOME_PASSED
    decisive = (whole for one, whole in _PRECEDENCE if one in found)
    return next(decisive, ExecutionStatus.ALL_FAILED)


def _summary(status: ExecutionStatus, tests: Sequence[TestResult]) -> str:
    passed = sum(test.status is TestStatus.PASSED for test in tests)
    if status is ExecutionStatus.ALL_PASSED:
        return f"All {len(tests)} test cases passed"
    if status is ExecutionStatus.RUNTIME_ERROR:
        failed = next(test for test in tests if test.status is TestStatus.RUNTIME_ERROR)
        why = "in a hidden test" if failed.actual_output == HIDDEN else failed.error_message
        return f"{passed}/{len(tests)} passed. Runtime error: {why}"
    if status is ExecutionStatus.SANDBOX_ERROR:
        failed = next(test for test in tests if test.status is TestStatus.JUDGE_ERROR)
        return f"Not judged, at test {failed.test_id}: {failed.error_message}"
    return f"{passed}/{len(tests)} test cases passed"


def _error(status: ExecutionStatus, tests: Sequence[TestResult]) -> ExecutionError | None:
    if status in (ExecutionStatus.ALL_PASSED, ExecutionStatus.SOME_PASSED):
        return None
    broken = status is ExecutionStatus.SANDBOX_ERROR
    failed = next(
        test
        for test in tests
        if (
            test.status is TestStatus.JUDGE_ERROR
            if broken
            else test.status is not TestStatus.PASSED
        )
    )
    shown = failed.actual_output if failed.actual_output != HIDDEN else ""
    return ExecutionError(
        code=CHECKER_ERROR if broken else failed.status.value.upper(),
        message=failed.error_message or f"Test {failed.test_id} failed",
        stage="execution",
        details=shown[:_DETAILS] or None,
    )
