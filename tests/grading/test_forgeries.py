"""Solutions that are wrong and want a good grade all the same (`forgeries/`, one trick each). The
function that is tested returns something wrong in all of them, so nothing may pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.grading import TestRunner
from coderunner.sandbox import Sandbox

pytestmark = pytest.mark.hostile

FORGERIES = sorted(Path(__file__).parent.joinpath("forgeries").glob("*.py"))
TESTS = {
    "asserts": "assert add(1, 2) == 3\nassert add(2, 2) == 4\n",
    "functions": (
        "def test_a():\n    assert add(1, 2) == 3\n\ndef test_b():\n    assert add(2, 2) == 4\n"
    ),
    "unittest": (
        "import unittest\n\n"
        "class TestAdd(unittest.TestCase):\n"
        "    def test_a(self): self.assertEqual(add(1, 2), 3)\n"
        "    def test_b(self): self.assertEqual(add(2, 2), 4)\n"
    ),
    "pytest": (
        "import pytest\n\n"
        "@pytest.mark.parametrize('a, b, sum', [(1, 2, 3), (2, 2, 4)])\n"
        "def test_a(a, b, sum):\n    assert add(a, b) == sum\n"
    ),
    "async": (
        "async def test_a():\n    assert add(1, 2) == 3\n\n"
        "async def test_b():\n    assert add(2, 2) == 4\n"
    ),
    "importing": (
        "import solution\n"
        "assert abs(solution.add(1, 2) - 3) < 1e-9\n"
        "for n in range(1, 3):\n    assert solution.add(n, 2) == n + 2\n"
    ),
    "starred": (
        "from solution import *\n"
        "assert abs(add(1, 2) - 3) < 1e-9\n"
        "for n in range(1, 3):\n    assert add(n, 2) == n + 2\n"
    ),
}


@pytest.fixture
def sandbox() -> Sandbox:
    """Some keep themselves busy until their time is up."""
    return Sandbox(timeout=8, min_isolation="sampled")


@pytest.mark.parametrize("tests", TESTS.values(), ids=TESTS.keys())
@pytest.mark.parametrize("forgery", FORGERIES, ids=[path.stem for path in FORGERIES])
def test_nothing_passes(runner: TestRunner, forgery: Path, tests: str) -> None:
    result = runner.run_tests(forgery.read_text(), tests)
    assert result.passed == 0, result
    assert result.failed + result.errors >= 1
    assert not result.ok


@pytest.mark.parametrize("tests", TESTS.values(), ids=TESTS.keys())
def test_what_is_right_passes(runner: TestRunner, tests: str) -> None:
    """The same tests: or those above would prove nothing."""
    result = runner.run_tests("def add(a, b):\n    return a + b\n", tests)
    assert (result.passed, result.failed, result.errors) == (2, 0, 0), result


INTO_THE_INTERPRETER = ("all_objects", "bytecode", "frames", "listening", "own_memory", "tests_rec")


@pytest.mark.parametrize(
    "forgery", [path for path in FORGERIES if path.stem.startswith(INTO_THE_INTERPRETER)],
    ids=lambda path: path.stem,
)  # fmt: skip
def test_it_is_said_what_was_reached_for(sandbox: Sandbox, forgery: Path) -> None:
    result = TestRunner(sandbox).run_tests(forgery.read_text(), TESTS["asserts"])
    assert "the code reaches into the interpreter: " in result.details[0]["message"]


def test_a_second_call_says_what_an_equal_was_compared_with(sandbox: Sandbox) -> None:
    forged = Path(__file__).parent / "forgeries" / "62_always_equal_number.py"
    result = TestRunner(sandbox).run_tests(forged.read_text(), "assert add(1, 2) == 3")
    assert result.details[0]["message"].endswith("-1 == 3: Equal says that it equals anything")
