"""Tests and solution in two boxes: what goes between them, and what cannot."""

from __future__ import annotations

import pytest

from coderunner.grading import TestRunner
from coderunner.sandbox import Sandbox

pytestmark = pytest.mark.engines


@pytest.fixture
def apart(sandbox: Sandbox) -> TestRunner:
    return TestRunner(sandbox, separate=True)


PLAIN = [
    "None", "True", "0", "-1", "10**40", "2**53", "-(2**53)", "0.1", "float('inf')", "1e-320",
    "1j", "''", "'é\\u2028\\ud800\\0'", "b'\\x00\\xff'", "bytearray(b'x')", "[]", "()", "(1,)",
    "[1, [2, (3, {4})]]", "{}", "{1: 'a', (2, 3): [4]}", "{1, 2}", "frozenset({1})", "['l', 'x']",
    "{'a': {'b': {'c': None}}}",
]  # fmt: skip


def test_plain_data_arrives_as_it_is(apart: TestRunner) -> None:
    solution = "def same(x): return x\ndef kind(x): return type(x).__name__\n"
    tests = "".join(
        f"def test_{n}():\n    x = {text}\n    assert same(x) == x and type(same(x)) is type(x)\n"
        f"    assert kind(x) == type(x).__name__\n"
        for n, text in enumerate(PLAIN)
    )
    result = apart.run_tests(solution, tests + "nan = same(float('nan'))\nassert nan != nan\n")
    assert result.passed == len(PLAIN) + 1, [d for d in result.details if d["status"] != "passed"]


def test_subclasses_arrive_as_what_they_are(apart: TestRunner) -> None:
    solution = (
        "from collections import Counter, OrderedDict, defaultdict, namedtuple\n"
        "import enum\n"
        "def f(): return [Counter('aab'), OrderedDict(a=1), defaultdict(int, b=2),"
        " namedtuple('P', 'x')(3), enum.IntEnum('E', 'A').A, type('S', (str,), {})('s')]\n"
    )
    tests = (
        "assert f() == [{'a': 2, 'b': 1}, {'a': 1}, {'b': 2}, (3,), 1, 's']\n"
        "assert [type(x) for x in f()] == [dict, dict, dict, tuple, int, str]\n"
    )
    assert apart.run_tests(solution, tests).passed == 2


def test_arguments_changed_in_place(apart: TestRunner) -> None:
    solution = (
        "def named(*, by): by.append(4)\n"
        "def sort(xs): xs.sort()\n"
        "def fill(d, s, b): d['k'] = [1]; s.add(2); b.append(3)\n"
        "def half(xs): xs[:] = xs[::2]; return len(xs)\n"
    )
    tests = (
        "xs = [3, 1, 2]\nassert sort(xs) is None\nassert xs == [1, 2, 3]\n"
        "d, s, b = {}, set(), bytearray()\nfill(d, s, b)\n"
        "assert (d, s, b) == ({'k': [1]}, {2}, bytearray([3]))\n"
        "assert half(xs) == 2\nassert xs == [1, 3]\nnamed(by=xs)\nassert xs == [1, 3, 4]\n"
    )
    result = apart.run_tests(solution, tests)
    assert (result.passed, result.failed, result.errors) == (6, 0, 0), result.details


def test_errors_arrive_as_what_they_are(apart: TestRunner) -> None:
    solution = (
        "class Broke(ValueError): pass\n"
        "class Worse(Broke):\n    def __init__(self, n): super().__init__(f'worse {n}')\n"
        "def f(n):\n"
        "    if n == 0: raise Broke('zero', 1)\n"
        "    if n == 1: raise Worse(1)\n"
        "    if n == 2: return {}['k']\n"
        "    if n == 3: raise UnicodeDecodeError('utf-8', b'x', 0, 1, 'no')\n"
        "    raise OSError(2, 'gone')\n"
    )
    tests = """
import pytest

def test_own():
    with pytest.raises(Broke) as raised:
        f(0)
    assert raised.value.args == ("zero", 1)

def test_below():
    with pytest.raises(Broke, match="worse 1"):
        f(1)
    with pytest.raises(ValueError):
        f(1)
    with pytest.raises(Worse):
        f(1)

def test_built_in():
    with pytest.raises(KeyError, match="k"):
        f(2)
    with pytest.raises(UnicodeDecodeError):
        f(3)
    with pytest.raises(FileNotFoundError) as raised:
        f(4)
    assert raised.value.errno == 2
"""
    result = apart.run_tests(solution, tests)
    assert result.passed == 3, result.details


def test_errors_know_what_they_know(apart: TestRunner) -> None:
    solution = (
        "class Low(Exception):\n    def __init__(self, missing):\n"
        "        super().__init__('too little'); self.missing = missing; self.who = object()\n"
        "def f(): raise Low(3)\n"
    )
    tests = (
        "try:\n    f()\nexcept Low as error:\n    caught = error\n"
        "assert caught.missing == 3\nassert not hasattr(caught, 'who')\n"
        "assert str(caught) == 'too little'\n"
    )
    assert apart.run_tests(solution, tests).passed == 3


def test_values_and_modules_of_the_solution(apart: TestRunner) -> None:
    solution = "import math\nLIMIT = [1, 2]\nasync def later(n): return n + 1\n"
    tests = (
        "import asyncio\nassert LIMIT == [1, 2]\nassert math.floor(1.5) == 1\n"
        "assert asyncio.run(later(1)) == 2\n"
        "async def test_later():\n    assert await later(2) == 3\n"
    )
    assert apart.run_tests(solution, tests).passed == 4


@pytest.mark.parametrize(
    ("solution", "test", "why"),
    [
        ("class Stack: pass", "Stack().push(1)", "Stack is a class"),
        ("def f(): return object()", "f()", "f() returns an object"),
        ("def f(): return (n for n in [1])", "f()", "f() returns a generator"),
        ("def f(g): return g(1)", "f(lambda n: n)", "f() is given a function"),
        ("def f():\n x = []\n x.append(x)\n return x", "f()", "f() returns data that is too deep"),
        ("def f(): return 'x' * (9 << 20)", "f()", "f() returns more than 8 MB"),
        ("import numpy", "numpy.array([1])", "numpy is a module"),
    ],
)
def test_what_cannot_be_handed_over_is_said(
    apart: TestRunner, solution: str, test: str, why: str
) -> None:
    result = apart.run_tests(solution, f"assert {test} == 1")
    assert result.errors == 1
    assert why in result.details[0]["message"]
    assert "plain data" in result.details[0]["message"]


def test_the_solution_knows_nothing_of_the_tests(apart: TestRunner) -> None:
    """Neither from its files, nor from its memory, nor from what it is sent."""
    solution = """
import gc, os, sys

def seen():
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            begin, end = (int(part, 16) for part in line.split()[0].split("-"))
            if " r" in line and "[v" not in line:
                try:
                    memory.seek(begin)
                    yield memory.read(end - begin)
                except (OSError, OverflowError, ValueError):
                    pass
    for folder, _, names in os.walk("."):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                yield file.read()
    yield repr(sys.argv).encode()

def find(half, other):
    return any((half + other).encode() in part for part in seen())
"""
    tests = "assert not find('very', 'secret')\nassert find('a', 'b') or 'verysecret'\n"
    result = apart.run_tests(solution, tests)
    assert result.passed == 2, result.details


def test_calls_from_many_threads(apart: TestRunner) -> None:
    tests = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool: found = list(pool.map(f, range(50)))\n"
        "assert found == [2 * n for n in range(50)]\n"
    )
    assert apart.run_tests("def f(n): return 2 * n\n", tests).passed == 1


@pytest.mark.parametrize(
    "answer",
    [
        "b'answer 1 {}'", "b'answer 1 [\"returned\"]'", "b'answer 1 ' + b'[' * 100000",
        "b'answer 2 [\"l\",\"returned\",3,[\"d\"]]'", "b'answer 1 [\"i\",\"zz\"]'",
        "b'surface [\"l\",\"\",[\"d\"]]'", "b'answer 1 ' + b'x' * (20 << 20)",
        "b'result 2330 passed'",
        "b'answer 1 [\"l\",\"raised\",[\"l\",\"KeyboardInterrupt\"],[\"l\"],\"\"]'",
        "b'answer 1 [\"l\",\"raised\",[\"l\",\"exit\"],[\"l\"],\"\"]'",
    ],
)  # fmt: skip
def test_made_up_answers_are_wrong_answers(answer: str) -> None:
    """The solution takes over the line that its answers go by. It has no other."""
    solution = f"""
import os, re, sys

def f(n):
    frame = sys._getframe()
    while "line" not in frame.f_locals:
        frame = frame.f_back
    line = frame.f_locals["line"]
    line._send({answer})
    return -1
"""
    runner = TestRunner(Sandbox(timeout=3, min_isolation="sampled"), separate=True)
    result = runner.run_tests(solution, "assert f(1) == 3\nassert f(2) == 4\n")
    assert (result.passed, result.failed + result.errors) == (0, 2), result.details


@pytest.mark.parametrize("error", ["StopIteration", "StopAsyncIteration"])
def test_the_solution_does_not_end_a_loop_of_the_tests(apart: TestRunner, error: str) -> None:
    result = apart.run_tests(
        f"class End({error}): pass\ndef f(n): raise End\n",
        "assert all(map(lambda n: f(n) == n, [1, 2]))\n",
    )
    assert result.errors == 1
    assert "RuntimeError: f() has raised End" in result.details[0]["message"]


def test_variables_that_are_too_large_are_said_to_be_so(apart: TestRunner) -> None:
    result = apart.run_tests("TABLE = 'x' * (20 << 20)\ndef f(): return 1\n", "assert f() == 1\n")
    assert "its variables hold more than 8 MB" in result.details[0]["message"]


def test_a_group_of_errors_is_told_in_words(apart: TestRunner) -> None:
    solution = "def f(): raise ExceptionGroup('many', [ValueError(1)])\n"
    result = apart.run_tests(solution, "assert f() == 1\n")
    assert result.details[0]["message"].startswith("ExceptionGroup: many (1 sub-exception)")
