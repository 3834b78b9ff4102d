"""Path globs, matched one part at a time.

A Matcher stands for a path and knows how far each pattern has come on the way there. So a walk
can leave out a directory in which nothing can match, and no pattern costs more than its length
per part, however many `**` it has.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from typing import Self

from coderunner.errors import InvalidInput

_Part = re.Pattern[str] | None  # None is a `**`
_Pattern = tuple[_Part, ...]
_Place = tuple[_Pattern, int]  # a pattern, and how many of its parts are used up


class Matcher:
    def __init__(self, patterns: Iterable[str]) -> None:
        """At the top, where nothing is used up yet."""
        self._places = _reachable((_compiled(pattern), 0) for pattern in patterns)

    def enter(self, name: str) -> Self:
        """One part further."""
        inner = type(self)(())
        inner._places = _reachable(
            (parts, used if parts[used] is None else used + 1)
            for parts, used in self._places
            if used < len(parts) and _accepts(parts[used], name)
        )
        return inner

    @property
    def matched(self) -> bool:
        """Some pattern matches this path."""
        return any(used == len(parts) for parts, used in self._places)

    @property
    def open(self) -> bool:
        """Some pattern may match something below this path."""
        return any(used < len(parts) for parts, used in self._places)


def check_patterns(patterns: Iterable[str]) -> None:
    """Raise InvalidInput unless all of them can be looked for."""
    Matcher(patterns)


def _compiled(pattern: str) -> _Pattern:
    names = pattern.split("/")
    if any(name in ("", ".", "..") for name in names):
        raise InvalidInput(
            f"{pattern!r} is not a pattern for relative paths",
            hint="write it like 'program', '*.class' or 'build/**'",
        )
    if names[-1] == "**":  # the files below, not the directory itself
        names.append("*")
    return tuple(None if name == "**" else re.compile(fnmatch.translate(name)) for name in names)


def _accepts(part: _Part, name: str) -> bool:
    return part is None or part.match(name) is not None


def _reachable(places: Iterable[_Place]) -> frozenset[_Place]:
    """These places, and those behind a `**` that stands for no directory at all."""
    found: set[_Place] = set()
    for parts, used in places:
        found.add((parts, used))
        while used < len(parts) and parts[used] is None:
            used += 1
            found.add((parts, used))
    return frozenset(found)
