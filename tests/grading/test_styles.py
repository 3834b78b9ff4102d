"""What people write into tests, each in a way of his own: what is said of it is what is so."""

from __future__ import annotations

import pytest

from coderunner.grading import TestRunner
from coderunner.sandbox import Sandbox
from tests.grading.test_kinds import ADD, WRONG, counts, graded, only, statuses

pytestmark = pytest.mark.engines


def test_what_is_made_to_equal_many_things(runner: TestRunner) -> None:
    """By the tests, or by what they import for it."""
    tests = """
        import pytest
        from unittest.mock import ANY

        class AnyNumber:
            def __eq__(self, other):
                return isinstance(other, int)

        def test_mock():
            assert {"sum": add(1, 2), "n": 2} == {"sum": ANY, "n": 2}

        def test_own():
            assert [add(1, 2)] == [AnyNumber()]
            assert AnyNumber() == add(1, 2)

        def test_approx():
            assert add(50, 50) == pytest.approx(101, abs=5)
    """
    assert counts(graded(runner, ADD, tests)) == (3, 0, 0)


def test_parameters_and_fixtures_of_methods(runner: TestRunner) -> None:
    tests = """
        import pytest

        class TestAdd:
            @pytest.mark.parametrize("a, total", [(1, 2), (2, 4)])
            def test_a(self, a, total):
                assert add(a, 1) == total

            def test_b(self, tmp_path):
                assert add(1, 1) == 2
    """
    assert statuses(graded(runner, ADD, tests)) == {
        "TestAdd.test_a[1-2]": "passed", "TestAdd.test_a[2-4]": "failed",
        "TestAdd.test_b": "passed",
    }  # fmt: skip


def test_async_functions_of_pytest(runner: TestRunner) -> None:
    tests = """
        import pytest

        @pytest.fixture
        def two():
            return 2

        @pytest.mark.asyncio
        async def test_good(two):
            assert await later(two) == 2

        async def test_bad(two):
            assert await later(two) == 3
    """
    solution = "async def later(n):\n    return n\n"
    assert counts(graded(runner, solution, tests)) == (1, 1, 0)


def test_classes_of_unittest_beside_fixtures(runner: TestRunner) -> None:
    tests = """
        import unittest

        class TestAdd(unittest.TestCase):
            def test_bad(self):
                self.assertEqual(add(1, 2), 4)

            @unittest.expectedFailure
            def test_expected(self):
                self.assertEqual(add(1, 2), 4)

        def test_good(tmp_path):
            assert add(1, 2) == 3
    """
    result = graded(runner, ADD, tests)
    assert counts(result) == (2, 1, 0)
    assert (result.details[0]["message"], result.details[0]["line"]) == ("3 != 4", 6)


def test_what_is_set_up_for_all_tests_of_a_class(runner: TestRunner) -> None:
    tests = """
        import unittest

        class TestAdd(unittest.TestCase):
            known = None

            @classmethod
            def setUpClass(cls):
                cls.known, cls.three = {}, add(1, 2)

            def test_a(self):
                self.known[1] = 1
                self.assertEqual(self.three, 3)

            def test_b(self):
                self.assertEqual(self.known, {1: 1})

        unittest.main()
    """
    assert counts(graded(runner, ADD, tests)) == (2, 0, 0)


def test_functions_around_tests(runner: TestRunner) -> None:
    tests = """
        def setup_module():
            global one
            one = 1

        def test_a():
            assert add(one, 1) == 2
    """
    assert counts(graded(runner, ADD, tests)) == (1, 0, 0)


def test_asserts_that_are_raised(runner: TestRunner) -> None:
    tests = """
        def same(a, b):
            if a != b:
                raise AssertionError(f"{a} is not {b}")

        same(add(1, 2), 3)
        same(add(1, 2), 4)
        if add(1, 2) != 3:
            raise AssertionError
    """
    result = graded(runner, ADD, tests)
    assert counts(result) == (2, 1, 0)
    assert "3 is not 4" in result.details[1]["message"]


def test_a_generator_is_no_test(runner: TestRunner) -> None:
    result = graded(runner, WRONG, "def test_a():\n    yield add(1, 2) == 3\n")
    assert counts(result) == (0, 0, 1)
    assert "test_a is a generator" in only(result)["message"]


def test_a_name_that_is_deleted_stays_so(runner: TestRunner) -> None:
    tests = "x = 1\ndel x\nassert add(1, 2) == 3\nassert 'x' not in globals()\n"
    assert counts(graded(runner, ADD, tests)) == (2, 0, 0)


def test_a_mark_for_the_order_of_bytes(runner: TestRunner) -> None:
    assert counts(runner.run_tests(f"\ufeff{ADD}", "\ufeffassert add(1, 2) == 3\n")) == (1, 0, 0)


def test_the_solution_as_a_module_is_what_is_graded(sandbox: Sandbox) -> None:
    solution = "print('loaded')\ncount = 0\ndef up():\n    global count\n    count += 1\n"
    tests = """
        import solution

        solution.count = 5
        up()
        assert solution.count == count == 6
    """
    result = graded(TestRunner(sandbox), solution, tests)
    assert counts(result) == (1, 0, 0)
    assert only(result)["output"] == ""


@pytest.mark.parametrize("imports", ["", "from solution import add\n"])
def test_what_lies_beside_the_tests(runner: TestRunner, imports: str) -> None:
    """It is read before the solution could replace it, unless it needs the solution."""
    helper = f"{imports}def check(a, b):\n    assert a == b\n"
    sandbox = Sandbox(filesystem={"helper.py": helper}, min_isolation="sampled")
    tests = "from helper import check\ncheck(add(1, 2), 3)\nassert add(1, 2) == 3\n"
    graded_here = TestRunner(sandbox, separate=runner.separate)
    assert counts(graded_here.run_tests(ADD, tests)) == (2, 0, 0)
    evil = "open('helper.py', 'w').write('def check(a, b): pass')\n" + WRONG
    if not imports:
        assert counts(graded_here.run_tests(evil, tests)) == (0, 2, 0)
