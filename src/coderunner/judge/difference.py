"""Where an output first differs from what was expected, in a form that helps.

    line 2, column 5
      expected | 1 2 3 4
      actual   | 1 2 5 4
               |     ^

What a hostile program prints ends up on somebody's terminal here, so nothing but printable
characters is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

_BEFORE, _AFTER = 40, 60  # characters shown around the place in a long line
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where they differ: line and column of the actual output, from 1. A side is
    None where it has ended already."""

    line: int
    column: int
    expected: str | None
    actual: str | None
    note: str = ""  # what else is to be said: how large an error is, which line is missing
    mark: int | None = None  # where in `actual` the place is

    def __str__(self) -> str:
        lines = [
            f"line {self.line}, column {self.column}" + (f": {self.note}" if self.note else ""),
            f"  expected | {_or_end(self.expected)}",
            f"  actual   | {_or_end(self.actual)}",
        ]
        if self.mark is not None:
            lines.append(f"           | {' ' * self.mark}^")
        return "\n".join(lines)


def _or_end(text: str | None) -> str:
    return "(nothing more)" if text is None else text


def at(
    line: int, expected: str | None, actual: str | None, *, places: tuple[int, int], note: str = ""
) -> Difference:
    """The difference in two lines of text, at these indices of the expected and the actual one."""
    shown_expected = None if expected is None else _excerpt(expected, places[0])[0]
    shown_actual, mark = (None, None) if actual is None else _excerpt(actual, places[1])
    return Difference(line, places[1] + 1, shown_expected, shown_actual, note, mark)


def between(expected: list[str], actual: list[str]) -> Difference | None:
    """The first difference of two lists of lines."""
    if expected == actual:
        return None
    same = 0
    for one, other in zip(expected, actual, strict=False):
        if one != other:
            break
        same += 1
    left = expected[same] if same < len(expected) else None
    right = actual[same] if same < len(actual) else None
    column = common_prefix(left or "", right or "")
    return at(same + 1, left, right, places=(column, column))


def common_prefix(left: str, right: str) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:  # slices are compared at the speed of C
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _excerpt(line: str, place: int) -> tuple[str, int]:
    """The part of a line around a place, and where the place is in it."""
    start, end = max(0, place - _BEFORE), place + _AFTER
    before = (_ELLIPSIS if start else "") + printable(line[start:place])
    return before + printable(line[place:end]) + (_ELLIPSIS if end < len(line) else ""), len(before)


def printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    if "\udc80" <= char <= "\udcff":  # a byte that is not UTF-8
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
