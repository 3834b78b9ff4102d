"""Checkers that compare what was printed with what was expected, as text.

Bytes that are not UTF-8 are kept apart (surrogate escapes): two different ones never compare equal.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Literal

from coderunner.judge import difference
from coderunner.judge.difference import Difference
from coderunner.judge.strictness import STRICT


@dataclass(frozen=True, slots=True)
class Normalized:
    """Spaces at the ends of lines and empty lines at the end do not count. The default."""

    __pydantic_config__: ClassVar = STRICT

    kind: Literal["normalized"] = "normalized"

    def compare(self, expected: bytes, actual: bytes) -> Difference | None:
        return difference.between(normalized(expected), normalized(actual))


@dataclass(frozen=True, slots=True)
class Exact:
    """Every byte counts."""

    __pydantic_config__: ClassVar = STRICT

    kind: Literal["exact"] = "exact"

    def compare(self, expected: bytes, actual: bytes) -> Difference | None:
        if expected == actual:
            return None
        return difference.between(_with_ends(expected), _with_ends(actual))


@dataclass(frozen=True, slots=True)
class IgnoreCase:
    """As `Normalized`, and upper and lower case are the same."""

    __pydantic_config__: ClassVar = STRICT

    kind: Literal["ignore_case"] = "ignore_case"

    def compare(self, expected: bytes, actual: bytes) -> Difference | None:
        wanted, found = normalized(expected), normalized(actual)
        pairs = enumerate(zip(wanted, found, strict=False))
        index = next((i for i, (a, b) in pairs if a.casefold() != b.casefold()), None)
        if index is None and len(wanted) == len(found):
            return None
        index = min(len(wanted), len(found)) if index is None else index
        left = wanted[index] if index < len(wanted) else None
        right = found[index] if index < len(found) else None
        column = _same_in_any_case(left or "", right or "")
        return difference.at(index + 1, left, right, places=(column, column))


@dataclass(frozen=True, slots=True)
class UnorderedLines:
    """As `Normalized`, but the lines may come in any order."""

    __pydantic_config__: ClassVar = STRICT

    kind: Literal["unordered_lines"] = "unordered_lines"

    def compare(self, expected: bytes, actual: bytes) -> Difference | None:
        wanted, found = normalized(expected), normalized(actual)
        missing, too_many = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
        if not missing and not too_many:
            return None
        lacking = next((line for line in wanted if line in missing), None)
        place = next((i for i, line in enumerate(found) if line in too_many), len(found))
        extra = found[place] if place < len(found) else None
        note = "a line that is not expected" if extra is not None else "a line is missing"
        return difference.at(place + 1, lacking, extra, places=(0, 0), note=note)


def as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def normalized(data: bytes) -> list[str]:
    """The lines without the space at their ends, up to the last that is not empty."""
    lines = [line.rstrip() for line in as_text(data).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _with_ends(data: bytes) -> list[str]:
    return as_text(data).splitlines(keepends=True)


def _same_in_any_case(left: str, right: str) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    different = next((i for i, (a, b) in pairs if a.casefold() != b.casefold()), None)
    return min(len(left), len(right)) if different is None else different
