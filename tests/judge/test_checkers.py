"""Checkers that compare: what they let pass, and where they say that it went wrong."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderunner.errors import InvalidInput
from coderunner.judge import Checker, Exact, IgnoreCase, Normalized, Tokens, UnorderedLines
from coderunner.judge.case import Comparing
from coderunner.judge.checkers.tokens import as_number, tokens_from_flags
from coderunner.judge.difference import Difference

pytestmark = pytest.mark.unit

STRICT = Tokens(case_sensitive=True)
SPACES = Tokens(space_change_sensitive=True)
RELATIVE = Tokens(float_relative_tolerance=1e-3)
ABSOLUTE = Tokens(float_absolute_tolerance=0.1)

SAME = [
    (Normalized(), b"1 2\n3\n", b"1 2\n3"),
    (Normalized(), b"1 2\n3\n", b"1 2  \n3\t\n\n\n"),
    (Normalized(), b"a\r\nb\r\n", b"a\nb\n"),
    (Normalized(), b"", b"\n \n"),
    (Normalized(), b"\xff", b"\xff"),
    (Exact(), b"1\n", b"1\n"),
    (IgnoreCase(), b"YES\nno", b"Yes \nNO\n"),
    (IgnoreCase(), "straße".encode(), b"STRASSE"),
    (UnorderedLines(), b"1\n2\n3\n", b"3\n1 \n2"),
    (UnorderedLines(), b"1\n1\n2\n", b"1\n2\n1\n"),
    (Tokens(), b"1 2\n3", b"\n1\n2 3   "),
    (Tokens(), b"Yes", b"YES"),
    (Tokens(), b"", b" \n"),
    (STRICT, b"Yes 1", b"Yes\n1"),
    (SPACES, b"a b\n", b"A b\n"),
    (RELATIVE, b"1000", b"1000.9"),
    (RELATIVE, b"1e3", b"1000"),
    (RELATIVE, b"abc 1", b"ABC 1.0"),
    (ABSOLUTE, b"0", b"-0.1"),
    (Tokens(float_absolute_tolerance=0.1, float_relative_tolerance=0.1), b"100 0", b"109 0.1"),
    (Tokens(float_absolute_tolerance=0), b"1.0", b"1"),
]

DIFFERENT = [
    # checker, expected, actual, line and column of the output
    (Normalized(), b"1 2\n3\n", b"1  2\n3\n", 1, 3),
    (Normalized(), b"1\n2\n", b" 1\n2\n", 1, 1),
    (Normalized(), b"1\n\n2\n", b"1\n2\n", 2, 1),
    (Normalized(), b"1\n2\n", b"1\n", 2, 1),
    (Normalized(), b"1\n", b"1\n2\n", 2, 1),
    (Normalized(), b"Yes", b"yes", 1, 1),
    (Normalized(), b"\xff", b"\xfe", 1, 1),
    (Normalized(), b"abcdef", b"abcxef", 1, 4),
    (Exact(), b"1\n", b"1", 1, 2),
    (Exact(), b"1\n", b"1 \n", 1, 2),
    (Exact(), b"1\n", b"1\r\n", 1, 2),
    (IgnoreCase(), b"YES\nNO", b"yes\nnope", 2, 3),
    (IgnoreCase(), b"a", b"A\nb", 2, 1),
    (UnorderedLines(), b"1\n2\n", b"2\n2\n", 1, 1),
    (UnorderedLines(), b"1\n2\n", b"2\n", 2, 1),
    (Tokens(), b"1 2", b"1 3", 1, 3),
    (Tokens(), b"1 2", b"1", 1, 2),
    (Tokens(), b"1", b"1\n2", 2, 1),
    (Tokens(), b"hello", b"\n  help", 2, 6),
    (STRICT, b"Yes", b"yes", 1, 1),
    (SPACES, b"a b\n", b"a  b\n", 1, 4),
    (SPACES, b"a\n", b"a", 1, 2),
    (SPACES, b"a b", b"x  b", 1, 1),
    (RELATIVE, b"1000", b"1002", 1, 1),
    (RELATIVE, b"0", b"0.001", 1, 1),
    (RELATIVE, b"1", b"one", 1, 1),
    (RELATIVE, b"nan", b"1", 1, 1),
    (ABSOLUTE, b"1", b"1.2", 1, 1),
    (ABSOLUTE, b"1", b"nan", 1, 1),
    (ABSOLUTE, b"1", b"inf", 1, 1),
    (ABSOLUTE, b"1", b"1x", 1, 1),
    (Tokens(), b"1.0", b"1", 1, 2),
]


@pytest.mark.parametrize(("checker", "expected", "actual"), SAME)
def test_the_same(checker: Comparing, expected: bytes, actual: bytes) -> None:
    assert checker.compare(expected, actual) is None


@pytest.mark.parametrize(("checker", "expected", "actual", "line", "column"), DIFFERENT)
def test_different(
    checker: Comparing, expected: bytes, actual: bytes, line: int, column: int
) -> None:
    found = checker.compare(expected, actual)
    assert found is not None
    assert (found.line, found.column) == (line, column), str(found)
    assert str(found)


ALL: list[Comparing] = [
    Normalized(), Exact(), IgnoreCase(), UnorderedLines(), Tokens(), STRICT, SPACES, RELATIVE,
]  # fmt: skip
WORDS = st.lists(st.sampled_from([b"1", b"2.0", b"a", b"A", b" ", b"\n", b"\t", b"\xff", b"\r"]))


@pytest.mark.parametrize("checker", ALL, ids=lambda checker: repr(checker))
@given(output=st.binary() | WORDS.map(b"".join))
def test_every_output_is_its_own_right_answer(checker: Comparing, output: bytes) -> None:
    assert checker.compare(output, output) is None


@given(expected=WORDS.map(b"".join), actual=WORDS.map(b"".join))
def test_who_is_stricter_never_accepts_more(expected: bytes, actual: bytes) -> None:
    def accepts(checker: Comparing) -> bool:
        return checker.compare(expected, actual) is None

    assert accepts(Exact()) <= accepts(Normalized()) <= accepts(IgnoreCase())
    assert accepts(Normalized()) <= accepts(UnorderedLines())
    assert accepts(Exact()) <= accepts(SPACES) <= accepts(Tokens())
    assert accepts(STRICT) <= accepts(Tokens()) <= accepts(RELATIVE)


@given(expected=WORDS.map(b"".join), actual=WORDS.map(b"".join))
def test_words_are_what_whitespace_leaves(expected: bytes, actual: bytes) -> None:
    assert (STRICT.compare(expected, actual) is None) == (expected.split() == actual.split())


@pytest.mark.parametrize("checker", ALL, ids=lambda checker: repr(checker))
@given(expected=st.binary(), actual=st.binary())
def test_a_difference_can_always_be_shown(
    checker: Comparing, expected: bytes, actual: bytes
) -> None:
    found = checker.compare(expected, actual)
    if found is not None:
        shown = str(found)
        assert shown.replace("\n", "").isprintable()
        assert found.line >= 1
        assert found.column >= 1


def test_a_difference_shows_both_sides() -> None:
    found = Normalized().compare(b"1 2 3\n4 5 6\n", b"1 2 3\n4 5 7\n")
    assert str(found) == (
        "line 2, column 5\n"
        "  expected | 4 5 6\n"
        "  actual   | 4 5 7\n"
        "           |     ^"
    )  # fmt: skip


def test_long_lines_are_cut_around_the_place() -> None:
    found = Normalized().compare(b"x" * 5000 + b"a" + b"x" * 5000, b"x" * 5000 + b"b" + b"x" * 5000)
    assert found is not None
    assert found.column == 5001
    assert found.actual == "…" + "x" * 40 + "b" + "x" * 59 + "…"
    assert all(len(line) < 130 for line in str(found).splitlines())


def test_what_is_not_there_is_said() -> None:
    shown = str(Normalized().compare(b"1\n2", b"1"))
    assert "expected | 2" in shown
    assert "actual   | (nothing more)" in shown


def test_no_escape_code_reaches_the_terminal() -> None:
    found = Normalized().compare(b"ok", b"\x1b[2Jo\xffk")
    assert found is not None
    assert found.actual == "\\x1b[2Jo\\xffk"


def test_how_far_a_number_is_off_is_said() -> None:
    assert "off by 0.5, relative 0.25" in str(RELATIVE.compare(b"2", b"2.5"))
    assert "a number is expected" in str(RELATIVE.compare(b"2", b"two"))


def test_megabytes_are_compared_in_no_time() -> None:
    lines = b"".join(b"%d\n" % number for number in range(300_000))
    found = Normalized().compare(lines + b"a", lines + b"b")
    assert found is not None
    assert found.line == 300_001
    found = RELATIVE.compare(lines.replace(b"\n", b" "), lines)
    assert found is None


def test_no_word_keeps_the_judge_busy() -> None:
    """Tried in as many ways as it has digits it would take a minute."""
    started = time.process_time()
    word = b"1" * 60_000 + b"x"
    assert RELATIVE.compare(b"1", word) is not None
    assert RELATIVE.compare(word, b"1") is not None
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("flags", "checker"),
    [
        ("", Tokens()),
        ("case_sensitive", STRICT),
        ("space_change_sensitive case_sensitive", Tokens(True, True)),
        ("float_tolerance 1e-6", Tokens(False, False, 1e-6, 1e-6)),
        ("float_relative_tolerance 1e-3", RELATIVE),
        ("float_absolute_tolerance .1", ABSOLUTE),
        (
            "float_absolute_tolerance 1 float_relative_tolerance 2",
            Tokens(float_relative_tolerance=2, float_absolute_tolerance=1),
        ),
    ],
)
def test_the_flags_of_problem_packages(flags: str, checker: Checker) -> None:
    assert tokens_from_flags(flags.split()) == checker


@pytest.mark.parametrize(
    "flags", ["sensitive", "float_tolerance", "float_tolerance x", "float_tolerance -1", "1e-6"]
)
def test_flags_that_make_no_sense(flags: str) -> None:
    with pytest.raises(InvalidInput, match=r"flag|tolerance"):
        tokens_from_flags(flags.split())


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_a_tolerance_is_a_number(value: float) -> None:
    with pytest.raises(InvalidInput, match="float_relative_tolerance must be a number"):
        Tokens(float_relative_tolerance=value)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"1", 1.0), (b"-1.5", -1.5), (b"+2", 2.0), (b".5", 0.5), (b"5.", 5.0), (b"1e3", 1000.0),
        (b"1E-2", 0.01), (b"00012", 12.0), (b"0e5", 0.0), (b"-0.0", 0.0), (b"0.1e-999", 5e-324),
        (b"", None), (b".", None), (b"e5", None), (b"1e", None), (b"1e+", None), (b"nan", None),
        (b"inf", None), (b"Infinity", None), (b"1e999", None), (b"1_000", None), (b"1,5", None),
        (b"0x10", None), (b"--1", None), ("٣".encode(), None), (b"\xff", None),
    ],
)  # fmt: skip
def test_what_a_number_is(text: bytes, number: float | None) -> None:
    assert as_number(text) == number


def test_the_mark_is_left_out_where_the_output_has_ended() -> None:
    assert Difference(2, 1, "x", None).mark is None
