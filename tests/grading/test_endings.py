"""However a solution ends, what comes back is a result, and what ran before is kept."""

from __future__ import annotations

import pytest

from coderunner.grading import TestRunner
from coderunner.sandbox import Sandbox

pytestmark = pytest.mark.engines

TESTS = "assert f(0) == 0\nassert f(1) == 1\nassert f(2) == 2\n"


@pytest.mark.parametrize(
    ("solution", "why"),
    [
        ("def f(:\n", "SyntaxError: "),
        ("x = '\0'", "ould not be loaded: "),
        ("import not_there", "ModuleNotFoundError: No module named 'not_there'"),
        ("raise ValueError('no')", "ValueError: no (solution.py, line 1)"),
        ("import sys; sys.exit()", "SystemExit"),
        ("import os; os._exit(3)", "ended by itself: exit code: 3, while the code was loaded"),
        ("import os; os.abort()", "signal 6 (SIGABRT), while the code was loaded"),
        ("1 = 2", "SyntaxError: cannot assign"),
        ("def f():\n  x\n y", "IndentationError"),
        ("f = " + "(" * 500 + ")" * 500, "ould not be loaded: "),
    ],
)
def test_code_that_does_not_load(runner: TestRunner, solution: str, why: str) -> None:
    result = runner.run_tests(solution, TESTS)
    assert (result.passed, result.failed, result.errors) == (0, 0, 3)
    assert all(why in detail["message"] for detail in result.details), result.details
    assert [detail["name"] for detail in result.details] == TESTS.splitlines()


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("while True: pass", "time limit of 2 s exceeded"),
        ("import os; os._exit(0)", "the program ended by itself: exit code: 0"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal 11 (SIGSEGV)"),
        ("x = bytearray(10**9)\n  x = [x] * 10", "MemoryError|memory limit of 256 MB exceeded"),
    ],
)
def test_what_ran_before_is_kept(separate_runner: TestRunner, end: str, why: str) -> None:
    solution = f"def f(n):\n if n == 1:\n  {end}\n return n\n"
    result = separate_runner.run_tests(solution, TESTS)
    first, second, third = result.details
    assert first["status"] == "passed"
    assert second["status"] == third["status"] == "error" or "MemoryError" in second["message"]
    assert any(part in second["message"] for part in why.split("|"))
    assert any(part in third["message"] for part in why.split("|")) or third["status"] == "passed"


@pytest.fixture(params=[False, True], ids=["together", "apart"])
def separate_runner(request: pytest.FixtureRequest) -> TestRunner:
    return TestRunner(Sandbox(timeout=2, min_isolation="sampled"), separate=request.param)


def test_an_exit_in_a_test_is_an_error_and_the_rest_goes_on(runner: TestRunner) -> None:
    solution = "import sys\ndef f(n):\n    return sys.exit(0) if n == 1 else n\n"
    result = runner.run_tests(solution, TESTS)
    assert [detail["status"] for detail in result.details] == ["passed", "error", "passed"]
    assert "SystemExit: 0" in result.details[1]["message"]


def test_endless_recursion(runner: TestRunner) -> None:
    result = runner.run_tests("def f(n):\n    return f(n)\n", TESTS)
    assert result.errors == 3
    assert "RecursionError" in result.details[0]["message"]


def test_much_is_printed(runner: TestRunner) -> None:
    """Output is bounded, and no result is lost for it."""
    solution = "def f(n):\n    print('x' * (3 << 20))\n    return n\n"
    result = runner.run_tests(solution, TESTS)
    assert result.passed == 3
    assert sum(len(detail["output"]) for detail in result.details) <= 1_000_000


def test_what_ran_when_time_was_up_had_printed_something(runner: TestRunner) -> None:
    slow = TestRunner(Sandbox(timeout=1.5, min_isolation="sampled"), separate=runner.separate)
    result = slow.run_tests(
        "def f(n):\n    print('at', n, flush=True)\n    while n: pass\n    return 0\n", TESTS
    )
    assert [detail["output"] for detail in result.details] == ["at 0\n", "at 1\n", ""]


def test_imports_that_the_sandbox_does_not_allow() -> None:
    runner = TestRunner(Sandbox(allowed_imports=["math"]))
    result = runner.run_tests("import os\ndef f(n): return n\n", TESTS)
    assert result.errors == 3
    assert "import of 'os' is blocked" in result.details[0]["message"]
    good = runner.run_tests("import math\ndef f(n): return n\n", "import os\n" + TESTS)
    assert good.passed == 3


def test_files_of_the_sandbox(runner: TestRunner) -> None:
    sandbox = Sandbox(filesystem={"data/n.txt": "7"}, min_isolation="sampled")
    both = TestRunner(sandbox, separate=runner.separate)
    solution = "def f(): return int(open('data/n.txt').read())\n"
    assert (
        both.run_tests(solution, "assert f() == 7\nassert open('data/n.txt').read() == '7'").passed
        == 2
    )


async def test_in_asyncio_code(runner: TestRunner) -> None:
    result = await runner.run_tests_async("def f(n): return n\n", TESTS)
    assert result.passed == 3


def test_it_shows_what_it_is() -> None:
    assert repr(TestRunner(Sandbox(timeout=3), separate=True)).endswith("separate=True)")
