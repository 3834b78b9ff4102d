"""Every kind of test: what counts as one, and what is said of it."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from coderunner.grading import TestResult, TestRunner
from coderunner.sandbox import Sandbox

pytestmark = pytest.mark.engines

ADD = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return a - b\n"


def graded(runner: TestRunner, solution: str, tests: str) -> TestResult:
    return runner.run_tests(dedent(solution), dedent(tests))


def counts(result: TestResult) -> tuple[int, int, int]:
    return result.passed, result.failed, result.errors


def statuses(result: TestResult) -> dict[str, str]:
    return {detail["name"]: detail["status"] for detail in result.details}


def only(result: TestResult) -> dict[str, Any]:
    (detail,) = result.details
    return detail


def test_asserts_count_one_by_one_and_go_on_after_a_failure(runner: TestRunner) -> None:
    result = graded(
        runner, WRONG, "assert add(1, 2) == 3\nassert add(0, 0) == 0\nassert add(5, 1) == 4\n"
    )
    assert [detail["status"] for detail in result.details] == ["failed", "passed", "passed"]
    assert counts(result) == (2, 1, 0)
    first = result.details[0]
    assert first["name"] == "assert add(1, 2) == 3"
    assert first["message"] == "assert add(1, 2) == 3 → -1 == 3"
    assert first["line"] == 1


def test_statements_around_them(runner: TestRunner) -> None:
    tests = """
        import math
        expected = {
            1: 2,
            2: 3,
        }
        for key in expected:
            assert add(key, 1) == expected[key]
        assert math.isclose(add(0.1, 0.2), 0.3)
        with open("out.txt", "w") as file:
            file.write("x")
        assert add(
            1,
            2,
        ) == 3, "one and two"
    """
    result = graded(runner, ADD, tests)
    assert counts(result) == (3, 0, 0)
    assert [detail["line"] for detail in result.details] == [7, 9, 12]


def test_a_statement_between_them_that_fails_is_told(runner: TestRunner) -> None:
    result = graded(runner, ADD, "x = add(1)\nassert add(1, 2) == 3\nassert x == 2\n")
    assert counts(result) == (1, 0, 2)
    assert "add() missing 1 required positional argument" in result.details[-1]["message"]
    assert "NameError: name 'x' is not defined" in result.details[1]["message"]


def test_functions(runner: TestRunner) -> None:
    tests = """
        def helper(n):
            assert n == 3

        def test_good():
            helper(add(1, 2))

        def test_bad():
            total = add(1, 1)
            assert total == 3

        def test_broken():
            add(None, 1)

        async def test_later():
            assert add(2, 2) == 4
    """
    result = graded(runner, ADD, tests)
    assert statuses(result) == {
        "test_good": "passed", "test_bad": "failed", "test_broken": "error", "test_later": "passed",
    }  # fmt: skip
    bad, broken = result.details[1], result.details[2]
    assert (bad["message"], bad["line"]) == ("assert total == 3 → 2 == 3", 10)
    assert broken["message"].startswith("TypeError: unsupported operand type(s) for +")


def test_classes_of_unittest(runner: TestRunner) -> None:
    tests = """
        import unittest

        class Base(unittest.TestCase):
            def setUp(self):
                self.one = 1

        class TestAdd(Base):
            def test_good(self):
                self.assertEqual(add(self.one, 2), 3)

            def test_bad(self):
                self.assertEqual(add(1, 2), 4, "not four")

            def test_raises(self):
                with self.assertRaises(TypeError):
                    add(1)

            def test_parts(self):
                for n in range(3):
                    with self.subTest(n=n):
                        self.assertEqual(add(n, 0), 0)

            @unittest.skip("later")
            def test_later(self):
                pass

            @unittest.expectedFailure
            def test_expected(self):
                self.assertEqual(add(1, 1), 3)

        if __name__ == "__main__":
            unittest.main()
    """
    result = graded(runner, ADD, tests)
    assert statuses(result) == {
        "TestAdd.test_good": "passed", "TestAdd.test_bad": "failed",
        "TestAdd.test_raises": "passed", "TestAdd.test_parts": "failed",
        "TestAdd.test_later": "skipped",
        "TestAdd.test_expected": "passed",
    }  # fmt: skip
    bad = next(d for d in result.details if d["name"] == "TestAdd.test_bad")
    assert bad["message"] == "3 != 4 : not four"


def test_a_class_that_cannot_be_set_up(runner: TestRunner) -> None:
    tests = """
        from unittest import TestCase

        class TestAdd(TestCase):
            @classmethod
            def setUpClass(cls):
                cls.three = add(1)

            def test_a(self):
                assert add(1, 2) == self.three
    """
    result = graded(runner, ADD, tests)
    assert result.passed == 0
    assert "missing 1 required positional argument" in str(result.details)


def test_what_people_expect_of_pytest(runner: TestRunner) -> None:
    tests = """
        import pytest

        @pytest.fixture
        def two():
            yield 2

        @pytest.fixture(params=[1, 2])
        def number(request):
            return request.param

        @pytest.mark.parametrize("a, b, total", [(1, 2, 3), (1, 1, 3)], ids=["right", "wrong"])
        def test_table(a, b, total):
            assert add(a, b) == total

        def test_fixture(two, tmp_path):
            assert add(two, 2) == 4

        def test_params(number):
            assert add(number, 0) == number

        def test_raises():
            with pytest.raises(TypeError, match="missing"):
                add(1)

        def test_approx():
            assert add(0.1, 0.2) == pytest.approx(0.3)

        @pytest.mark.skip(reason="later")
        def test_later():
            assert False

        @pytest.mark.xfail
        def test_expected():
            assert add(1, 1) == 3

        class TestClass:
            def test_method(self, capsys):
                print("hm")
                assert capsys.readouterr().out == "hm\\n"
                assert add(1, 1) == 2
    """
    result = graded(runner, ADD, tests)
    assert statuses(result) == {
        "test_table[right]": "passed", "test_table[wrong]": "failed", "test_fixture": "passed",
        "test_params[1]": "passed", "test_params[2]": "passed", "test_raises": "passed",
        "test_approx": "passed", "test_later": "skipped", "test_expected": "passed",
        "TestClass.test_method": "passed",
    }  # fmt: skip
    wrong = next(d for d in result.details if d["status"] == "failed")
    assert wrong["message"] == "assert add(a, b) == total → 2 == 3"
    assert wrong["line"] == 14


def test_without_pytest_it_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's own Python has none."""
    monkeypatch.setenv("CODERUNNER_TOOLCHAINS", '{"python": "/usr/bin/python3"}')
    bare = Sandbox(min_isolation="sampled")
    if bare.run("import pytest").exit_code == 0:
        monkeypatch.undo()
        pytest.fail("this test needs a Python that has no pytest")
    result = graded(TestRunner(bare), ADD, "import pytest\ndef test_a(): assert add(1, 2) == 3\n")
    assert result.errors == 1
    assert "No module named 'pytest'" in only(result)["message"]


def test_a_main_block_counts_if_there_is_nothing_else(runner: TestRunner) -> None:
    main = "if __name__ == '__main__':\n    assert add(1, 2) == 3\n"
    assert counts(graded(runner, ADD, main)) == (1, 0, 0)
    assert counts(graded(runner, WRONG, main)) == (0, 1, 0)
    assert counts(graded(runner, WRONG, f"assert add(1, 0) == 1\n{main}")) == (1, 0, 0)


def test_a_checking_function_is_one_test(runner: TestRunner) -> None:
    tests = """
        def check(candidate):
            assert candidate(1, 2) == 3
            assert candidate(2, 2) == 5

        check(add)
    """
    result = graded(runner, ADD, tests)
    assert counts(result) == (0, 1, 0)
    assert only(result)["message"] == "assert candidate(2, 2) == 5 → 4 == 5"
    assert only(result)["line"] == 4


def test_what_is_printed_belongs_to_the_test(runner: TestRunner) -> None:
    solution = "print('loading')\ndef f(n):\n    print('f', n)\n    return n\n"
    tests = (
        "def test_a():\n    assert f(1) == 1\ndef test_b():\n    print('b')\n    assert f(2) == 3\n"
    )
    result = graded(runner, solution, tests)
    outputs = [sorted(detail["output"].splitlines()) for detail in result.details]
    assert outputs == [["f 1"], ["b", "f 2"]]


def test_values_are_shown(runner: TestRunner) -> None:
    result = graded(
        runner,
        "def f(x):\n    return x\n",
        "assert f([1]) == [2], 'lists'\nassert f(0)\nassert 3 in f([1, 2])\nassert not f(1)\n"
        "assert 0 < f(5) < 3\nassert f('x' * 1000) == 'y'\nassert f(1) == 1 and f(2) == 3\n",
    )
    assert [detail["message"] for detail in result.details][:5] == [
        "assert f([1]) == [2] → [1] == [2]: lists", "assert f(0) → 0",
        "assert 3 in f([1, 2]) → 3 in [1, 2]", "assert not f(1) → False",
        "assert 0 < f(5) < 3 → False",
    ]  # fmt: skip
    assert len(result.details[5]["message"]) < 500
    assert result.details[6]["message"] == "assert f(1) == 1 and f(2) == 3 → 2 == 3"


def test_tests_may_import_the_solution(runner: TestRunner) -> None:
    tests = """
        import solution
        from solution import add as plus
        from main import add as main_add

        assert solution.add(1, 2) == 3
        assert plus(1, 2) == main_add(1, 2) == 3
    """
    assert counts(graded(runner, ADD, tests)) == (2, 0, 0)


def test_no_tests_are_no_pass(runner: TestRunner) -> None:
    result = graded(runner, ADD, "x = add(1, 2)\n")
    assert counts(result) == (0, 0, 1)
    assert only(result)["message"].startswith("there are no tests")
    assert not result.ok


def test_a_checking_function_that_nobody_calls(runner: TestRunner) -> None:
    result = graded(runner, ADD, "def check(f):\n    assert f(1, 2) == 3\n")
    assert counts(result) == (0, 0, 1)
    assert "nobody calls check()" in only(result)["message"]


NO_PYTHON = ["assert add(1,", "\0", "def f(:\n  pass", "(" * 500, "-" * 10**5]


@pytest.mark.parametrize("tests", NO_PYTHON)
def test_tests_that_are_no_python(runner: TestRunner, tests: str) -> None:
    result = runner.run_tests(ADD, tests)
    assert counts(result) == (0, 0, 1)
    assert "the tests are no Python" in only(result)["message"]


def test_names_of_the_solution_are_as_they_are_now(sandbox: Sandbox) -> None:
    """What its functions change is changed for its tests, as if all were one module."""
    solution = "count = 0\ndef up():\n    global count\n    count += 1\n"
    result = graded(
        TestRunner(sandbox), solution, "up()\nassert count == 1\nup()\nassert count == 2"
    )
    assert counts(result) == (2, 0, 0)


def test_a_name_of_the_solution_that_hides_a_built_in_one(runner: TestRunner) -> None:
    """It may be asked for; but not slip in where another is asked for."""
    assert counts(graded(runner, "def sum(xs): return 7\n", "assert sum([1]) == 7")) == (1, 0, 0)
    solution = "def add(a, b): return -1\ndef abs(n): return 3\n"
    assert counts(graded(runner, solution, "assert abs(add(1, 2)) == 3")) == (0, 1, 0)


def test_dataclasses_and_futures_in_tests(runner: TestRunner) -> None:
    tests = """
        from __future__ import annotations
        from dataclasses import dataclass
        import pickle

        @dataclass
        class Case:
            a: int
            b: int
            total: Unknown = 3

        case = Case(1, 2)
        assert add(case.a, case.b) == case.total
        assert pickle.loads(pickle.dumps(case)) == case
    """
    assert counts(graded(runner, ADD, tests)) == (2, 0, 0)


def test_lines_of_windows_and_of_old_macs(runner: TestRunner) -> None:
    tests = "assert add(1, 2) == 3\r\nassert add(1, 1) == 3\r"
    assert [d["line"] for d in runner.run_tests(ADD, tests).details] == [1, 2]
