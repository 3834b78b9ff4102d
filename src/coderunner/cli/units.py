"""Durations, sizes and counts as people type them, read strictly.

Fractions, never floats: 0.1s is 100 ms and not a hair more. What does not fit the unit that a
limit is counted in is refused, since rounding up would allow more than was asked for.
"""

from __future__ import annotations

import re
from fractions import Fraction

_NUMBER = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)([A-Za-z]*)", re.ASCII)
_MS = {"ms": 1, "s": 1000, "": 1000, "m": 60_000}
_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30
_BYTES = {"b": 1, "": _MIB}
_BYTES |= {f"{letter}{end}": size for letter, size in zip("kmg", (_KIB, _MIB, _GIB), strict=True)
           for end in ("", "b", "ib")}  # fmt: skip

DURATION_HINT = "write 2s, 1.5s, 500ms or 2m; a plain number means seconds"
SIZE_HINT = "write 128M, 1G or 512K (1M is 1024K is 1048576 bytes); a plain number means M"
COUNT_HINT = "write a whole number above zero"
CORES_HINT = "write a number above zero, such as 0.5 or 2"


class BadQuantity(ValueError):
    """What is wrong, and how to write it instead."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.hint = hint


def milliseconds(text: str) -> int:
    number, unit = _split(text, DURATION_HINT)
    if unit not in _MS:
        raise BadQuantity(f"there is no unit of time {unit!r}", DURATION_HINT)
    return _whole(number * _MS[unit], "milliseconds", DURATION_HINT)


def bytes_(text: str) -> int:
    number, unit = _split(text, SIZE_HINT)
    if unit.lower() not in _BYTES:
        raise BadQuantity(f"there is no unit of size {unit!r}", SIZE_HINT)
    return _whole(number * _BYTES[unit.lower()], "bytes", SIZE_HINT)


def megabytes(text: str) -> int:
    return _whole(Fraction(bytes_(text), _MIB), "megabytes", "write 128M or 1G, at least 1M")


def count(text: str) -> int:
    number, unit = _split(text, COUNT_HINT)
    if unit:
        raise BadQuantity(f"{unit!r} does not belong to a number of things", COUNT_HINT)
    return _whole(number, "things", COUNT_HINT)


def cores(text: str) -> float:
    number, unit = _split(text, CORES_HINT)
    if unit:
        raise BadQuantity(f"{unit!r} does not belong to a number of cores", CORES_HINT)
    return float(number)


def _split(text: str, hint: str) -> tuple[Fraction, str]:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise BadQuantity("that is not a number with a unit", hint)
    number = Fraction(match[1])
    if not number:
        raise BadQuantity("must be above zero", hint)
    return number, match[2]


def _whole(number: Fraction, what: str, hint: str) -> int:
    if number.denominator != 1:
        raise BadQuantity(f"is counted in whole {what}", hint)
    return int(number)
