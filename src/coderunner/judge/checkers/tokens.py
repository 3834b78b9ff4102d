"""Comparing word by word, numbers with a tolerance: what ICPC's problem packages ask for.

The flags are those of the ICPC's default output validator, and so is what they mean: a number is a
word of the answer that is one in decimal notation, fraction and exponent included; other words are
compared letter by letter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, Literal

from coderunner.errors import InvalidInput
from coderunner.judge import difference
from coderunner.judge.checkers.text import as_text
from coderunner.judge.difference import Difference
from coderunner.judge.strictness import STRICT

_WORD = re.compile(rb"[^ \t\n\r\v\f]+")
# Each digit fits in one place only: else a long word that is no number would be tried in as many
# ways as it has digits, and nobody can stop `re`.
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_ZERO = re.compile(rb"[+-]?[0.]*[1-9]")
_TINY = 5e-324
_TOLERANCES = ("float_tolerance", "float_relative_tolerance", "float_absolute_tolerance")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Words, with any space between them. With a tolerance, numbers may be off by so much: by one
    of the two, if there are two."""

    __pydantic_config__: ClassVar = STRICT

    case_sensitive: bool = False
    space_change_sensitive: bool = False
    float_relative_tolerance: float | None = None
    float_absolute_tolerance: float | None = None
    kind: Literal["tokens"] = "tokens"

    def __post_init__(self) -> None:
        for name in ("float_relative_tolerance", "float_absolute_tolerance"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise InvalidInput(f"{name} must be a number of at least 0, not {value!r}")

    def compare(self, expected: bytes, actual: bytes) -> Difference | None:
        if self.space_change_sensitive and (found := self._in_space(expected, actual)):
            return found
        wanted, given = expected.split(), actual.split()
        if wanted == given:
            return None
        for index, (word, other) in enumerate(zip_longest(wanted, given)):
            if word is None or other is None:
                return _at_word(expected, actual, index)
            if word != other and (wrong := self._wrong(word, other)) is not None:
                return _at_word(expected, actual, index, wrong)
        return None

    def _in_space(self, expected: bytes, actual: bytes) -> Difference | None:
        """The first place where the space between the words is not the same, if their words are
        the same up to there."""
        pairs = zip_longest(_spaces(expected), _spaces(actual))
        index = next((i for i, (left, right) in enumerate(pairs) if left != right), None)
        if index is None:
            return None
        words = zip(expected.split()[:index], actual.split()[:index], strict=False)
        if any(a != b and self._wrong(a, b) is not None for a, b in words):
            return None  # a word was wrong before: that is the first difference
        return _at_word(expected, actual, index, "the space before is different")

    def _wrong(self, word: bytes, other: bytes) -> str | None:
        """What is wrong with a word that is not the same; None if it will do."""
        if self._has_tolerance and (number := as_number(word)) is not None:
            return self._off(number, other)
        same = not self.case_sensitive and word.lower() == other.lower()
        return None if same else ""

    @property
    def _has_tolerance(self) -> bool:
        return (self.float_relative_tolerance, self.float_absolute_tolerance) != (None, None)

    def _off(self, number: float, other: bytes) -> str | None:
        value = as_number(other)
        if value is None:
            return "a number is expected"
        error = abs(number - value)
        relative, absolute = self.float_relative_tolerance, self.float_absolute_tolerance
        if absolute is not None and error <= absolute:
            return None
        if relative is not None and error <= relative * abs(number):
            return None
        share = f", relative {error / abs(number):.3g}" if number else ""
        return f"off by {error:.3g}{share}"


def tokens_from_flags(flags: Sequence[str]) -> Tokens:
    """From the words of `validator_flags` in a problem package."""
    given: dict[str, float | bool] = {}
    words = iter(flags)
    for flag in words:
        if flag in ("case_sensitive", "space_change_sensitive"):
            given[flag] = True
        elif flag in _TOLERANCES:
            value = _tolerance(flag, next(words, ""))
            both = flag == "float_tolerance"
            given.update(dict.fromkeys(_TOLERANCES[1:] if both else (flag,), value))
        else:
            raise InvalidInput(
                f"the default validator has no flag {flag!r}",
                hint="case_sensitive, space_change_sensitive, " + ", ".join(_TOLERANCES),
            )
    return Tokens(**given)  # type: ignore[arg-type]  # the flags are the fields' names


def _tolerance(flag: str, text: str) -> float:
    value = as_number(text.encode("utf-8", "replace"))
    if value is None or value < 0:
        raise InvalidInput(f"{flag} {text!r}: that is no tolerance", hint=f"as in {flag} 1e-6")
    return value


def as_number(word: bytes) -> float | None:
    """The finite number that this is, all of it, in decimal notation."""
    if not _DECIMAL.fullmatch(word):
        return None
    value = float(word)
    if not value and _NOT_ZERO.match(word):
        value = _TINY  # too small to be told from nothing, which it is not
    return value if math.isfinite(value) else None


def _spaces(data: bytes) -> list[bytes]:
    """What stands before each word, and behind the last."""
    return _WORD.split(data) if data else [b""]


def _at_word(expected: bytes, actual: bytes, index: int, note: str = "") -> Difference:
    _, left, left_place = _line_of_word(expected, index)
    line, right, right_place = _line_of_word(actual, index)
    if left is not None and right is not None and not note:
        right_place += difference.common_prefix(left[left_place:], right[right_place:])
    return difference.at(line, left, right, places=(left_place, right_place), note=note)


def _line_of_word(data: bytes, index: int) -> tuple[int, str | None, int]:
    """The number and the text of the line that a word is in, and where in it; None for a line at
    the end of the output."""
    word = _nth(_WORD.finditer(data), index)
    start = word.start() if word else len(data)
    line_start = data.rfind(b"\n", 0, start) + 1
    line = data.count(b"\n", 0, start) + 1
    place = len(as_text(data[line_start:start]))
    if word is None:
        return line, None, place
    end = data.find(b"\n", start)
    return line, as_text(data[line_start : end if end >= 0 else len(data)]), place


def _nth(matches: Iterator[re.Match[bytes]], index: int) -> re.Match[bytes] | None:
    return next((match for i, match in enumerate(matches) if i == index), None)
