"""The test cases of the specification's level 4, as they are written there."""

from __future__ import annotations

import functools

import pytest

import coderunner.sandbox
from coderunner.grading import TestRunner

# mypy: ignore-errors
# fmt: off

pytestmark = pytest.mark.engines


@pytest.fixture(params=["linux", "process"])
def Sandbox(request):  # noqa: N802 - the specification's name
    return functools.partial(coderunner.sandbox.Sandbox, engine=request.param)


def test_level_4(Sandbox):  # noqa: N803
    runner = TestRunner(Sandbox(timeout=10))
    user_code = '''
def add(a, b):
    return a + b
'''
    test_code = '''
assert add(1, 2) == 3
assert add(0, 0) == 0
assert add(-1, 1) == 0
'''
    result = runner.run_tests(user_code, test_code)
    assert result.passed == 3
    assert result.failed == 0

    # Buggy code
    user_code_bad = '''
def add(a, b):
    return a - b  # bug!
'''
    result = runner.run_tests(user_code_bad, test_code)
    assert result.failed > 0


def test_the_fields(Sandbox):  # noqa: N803
    result = TestRunner(Sandbox()).run_tests("x = 1", "assert x == 1\nassert x == 2")
    assert (result.passed, result.failed, result.errors) == (1, 1, 0)
    assert [set(detail) >= {"name", "status", "message"} for detail in result.details] == [True] * 2
    assert isinstance(result.total_runtime_ms, float)
    assert result.total_runtime_ms > 0
