"""Which tests there are, read from their source alone."""

from __future__ import annotations

from textwrap import dedent

import pytest

from coderunner.grading.plan import Plan, plan_of

pytestmark = pytest.mark.unit


def names(source: str) -> list[str]:
    return [test.name for test in plan_of(dedent(source)).tests]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("assert a\nassert b", ["assert a", "assert b"]),
        ("for x in y:\n    assert x", ["for x in y: assert x"]),
        ("if a:\n    b()\nelse:\n    assert c", ["if a: b() else: assert c"]),
        ("x = 1\nprint(x)\nimport y", []),
        ("def check(f):\n    assert f()\ncheck(g)", ["check(g)"]),
        ("from t import check_it\ncheck_it(g)", ["check_it(g)"]),
        ("t.assert_equal(f(), 1)", ["t.assert_equal(f(), 1)"]),
        ("def inner():\n    assert x\ndef outer():\n    inner()\nouter()", ["outer()"]),
        ("def test_a(): pass\ntest_a()", ["test_a"]),
        ("async def test_a(): pass", ["test_a"]),
        ("def helper():\n    assert x", []),
        ("def test_a(): pass\nif __name__ == '__main__':\n    assert x", ["test_a"]),
        ("if __name__ == '__main__':\n    assert x", ["if __name__ == '__main__': assert x"]),
        ("class TestA:\n    def test_b(self): pass", ["TestA"]),
        ("class A(unittest.TestCase):\n    def test_b(self): pass", ["A"]),
        ("class A(unittest.TestCase):\n    def helper(self): pass", []),
        ("class A:\n    def test_b(self): pass", []),
    ],
)
def test_what_is_a_test(source: str, expected: list[str]) -> None:
    assert names(source) == expected


def test_long_ones_are_cut() -> None:
    (name,) = names(f"assert {' + '.join(['number'] * 100)}")
    assert len(name) == 120
    assert name.endswith("…")


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("def test_a(): assert x", ()),
        ("def test_a(x): assert x", ("with_pytest",)),
        ("def test_a(*, x): assert x", ("with_pytest",)),
        ("def test_a(x=1): assert x", ()),
        ("import pytest\ndef test_a(): assert x", ("with_pytest",)),
        ("import pytest\nassert x", ()),
        ("class TestA:\n    def test_b(self): pass", ("with_pytest",)),
        ("class A(TestCase):\n    def test_b(self): pass", ("with_unittest",)),
        ("class A(TestCase): pass\nclass B(A):\n    def test_b(self): pass", ("with_unittest",)),
    ],
)
def test_who_is_needed_to_run_them(source: str, kinds: tuple[str, ...]) -> None:
    assert plan_of(source).kinds == kinds


def test_the_methods_that_a_class_must_have() -> None:
    """Inherited ones, too: whoever takes one away is found out."""
    plan = plan_of(
        "class Base(TestCase):\n    def test_a(self): pass\n"
        "class B(Base):\n    def test_b(self): pass\n    def helper(self): pass\n"
    )
    assert plan.tests[1].at_least == ("B.test_b", "B.test_a")


def test_classes_that_are_their_own_base() -> None:
    assert names("class A(A):\n    def test_a(self): pass") == []


def test_it_is_told_on_one_line() -> None:
    told = plan_of("assert '''\n\n\0x'''.strip('\\0')\n".replace("\0", "")).told(b"key", b"m\0")
    assert told.count(b"\n") == 1
    assert told.endswith(b"\n")
    assert eval(told)["source"].startswith("assert")


def test_a_box_that_is_to_know_nothing() -> None:
    told = Plan.nothing().told(b"key", b"m")
    assert b"assert" not in told
