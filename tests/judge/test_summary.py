"""Status, summary and error of the whole, as they follow from the tests."""

from __future__ import annotations

import itertools

import pytest

from coderunner.judge import ExecutionResult, ExecutionStatus, TestResult, TestStatus
from coderunner.judge.summary import concluded

pytestmark = pytest.mark.unit

P, W, R, T, M = (
    TestStatus.PASSED,
    TestStatus.WRONG_ANSWER,
    TestStatus.RUNTIME_ERROR,
    TestStatus.TIMEOUT,
    TestStatus.MEMORY_EXCEEDED,
)
J, S = TestStatus.JUDGE_ERROR, TestStatus.SKIPPED


def of(*statuses: TestStatus) -> ExecutionResult:
    tests = [
        TestResult(f"t{i}", status, f"out {i}", "", 1, 1, _message(status, i))
        for i, status in enumerate(statuses, start=1)
    ]
    return concluded(ExecutionResult("r", ExecutionStatus.ALL_FAILED, tests, 1, None, "", None))


def _message(status: TestStatus, number: int) -> str | None:
    return None if status in (P, W) else f"why {number}"


@pytest.mark.parametrize(
    ("tests", "status"),
    [
        ((P, P), ExecutionStatus.ALL_PASSED),
        ((P, W), ExecutionStatus.SOME_PASSED),
        ((P, T, M, R), ExecutionStatus.SOME_PASSED),
        ((P, S), ExecutionStatus.SOME_PASSED),
        ((W, W), ExecutionStatus.ALL_FAILED),
        ((W, S), ExecutionStatus.ALL_FAILED),
        ((W, R), ExecutionStatus.RUNTIME_ERROR),
        ((R, M, W), ExecutionStatus.MEMORY_EXCEEDED),
        ((R, M, T, W), ExecutionStatus.TIMEOUT),
        ((P, P, J), ExecutionStatus.SANDBOX_ERROR),
        ((T, J), ExecutionStatus.SANDBOX_ERROR),
    ],
)
def test_precedence(tests: tuple[TestStatus, ...], status: ExecutionStatus) -> None:
    for order in itertools.permutations(tests):
        assert of(*order).status is status


def test_all_passed() -> None:
    result = of(P, P, P)
    assert result.summary == "All 3 test cases passed"
    assert result.error_info is None


def test_some_passed_is_no_error() -> None:
    result = of(P, R, W)
    assert result.summary == "1/3 test cases passed"
    assert result.error_info is None


def test_a_runtime_error_is_told_in_the_summary() -> None:
    result = of(W, R)
    assert result.summary == "0/2 passed. Runtime error: why 2"


def test_the_error_is_that_of_the_first_test_that_failed() -> None:
    error = of(W, T).error_info
    assert error is not None
    assert (error.code, error.message) == ("WRONG_ANSWER", "Test t1 failed")
    assert (error.stage, error.details) == ("execution", "out 1")
    error = of(M).error_info
    assert error is not None
    assert (error.code, error.message) == ("MEMORY_EXCEEDED", "why 1")


def test_a_checker_that_fails_is_nobodys_failure() -> None:
    result = of(W, P, J)
    assert result.summary == "Not judged, at test t3: why 3"
    assert result.error_info is not None
    assert result.error_info.code == "CHECKER_ERROR"


def test_long_output_is_cut_in_the_details() -> None:
    result = of(W)
    result.test_results[0].actual_output = "x" * 10_000
    error = concluded(result).error_info
    assert error is not None
    assert error.details == "x" * 500
