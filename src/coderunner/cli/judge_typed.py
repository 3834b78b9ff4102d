"""From what was typed to what is judged: the problem with its changes, the submissions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from coderunner.cli import units
from coderunner.errors import InvalidInput, InvalidLimits
from coderunner.judge.checkers.opened import Checker
from coderunner.judge.checkers.text import Exact, IgnoreCase, Normalized, UnorderedLines
from coderunner.judge.checkers.tokens import Tokens
from coderunner.judge.problem import selection
from coderunner.judge.problem.model import Problem, Submission
from coderunner.judge.problem.reading import read_problem, read_submission
from coderunner.language import Languages

T = TypeVar("T", int, float)

_CHECKERS: dict[str, Callable[[], Checker]] = {
    "normalized": Normalized,
    "exact": Exact,
    "tokens": Tokens,
    "ignore_case": IgnoreCase,
    "unordered_lines": UnorderedLines,
}
_SUBMISSIONS = "submissions"


@dataclass(frozen=True, slots=True)
class Typed:
    """What was on the command line about the problem and its submissions."""

    problem: str
    submissions: Sequence[str] = ()
    language: str | None = None
    tests: str | None = None
    memory_mb: int | None = None
    checker: Checker | None = None


def quantity(flag: str, parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except units.BadQuantity as error:
        raise InvalidLimits(f"{flag} {text!r}: {error}", hint=error.hint) from None


def checker(kind: str | None, tolerance: str | None) -> Checker | None:
    """None: the problem's own."""
    if tolerance is not None:
        if kind not in (None, "tokens"):
            raise InvalidInput(f"--tolerance means nothing to --checker {kind}", hint="use tokens")
        off = _tolerance(tolerance)
        return Tokens(float_relative_tolerance=off, float_absolute_tolerance=off)
    if kind is None:
        return None
    if kind not in _CHECKERS:
        raise InvalidInput(
            f"there is no checker {kind!r}", hint=f"there are {', '.join(_CHECKERS)}"
        )
    return _CHECKERS[kind]()


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise InvalidInput(f"--tolerance {text!r} is no tolerance", hint="write 1e-6 or 0.001")
    return value


def read(typed: Typed, languages: Languages) -> tuple[Problem, tuple[Submission, ...]]:
    """The problem, and the submissions that are to be judged."""
    whole = read_problem(Path(typed.problem), languages)
    if typed.submissions:
        named = [_named(text, typed, whole, languages) for text in typed.submissions]
        submissions = tuple(dict.fromkeys(one for several in named for one in several))
    elif not (submissions := whole.submissions):
        raise InvalidInput(
            f"{whole.name} brings no submissions of its own",
            hint=f"name one: coderunner judge {typed.problem} solution.py",
        )
    return _changed(whole, typed), submissions


def _changed(problem: Problem, typed: Typed) -> Problem:
    if typed.tests is not None:
        problem = selection.only(problem, typed.tests)
    if typed.memory_mb is not None:
        problem = selection.with_memory(problem, typed.memory_mb)
    return problem if typed.checker is None else selection.with_checker(problem, typed.checker)


def _named(
    text: str, typed: Typed, problem: Problem, languages: Languages
) -> tuple[Submission, ...]:
    own = _own(text, problem)
    if own and typed.language is None:
        return own
    read = read_submission([Path(text)], languages, problem, typed.language or "")
    # Only the problem says what is right. Otherwise whoever hands something in could have it that
    # their program should fail, with a comment in it.
    expected, score = (own[0].expected, own[0].expected_score) if len(own) == 1 else (None, None)
    return (
        replace(read, name=text, expected=expected, expected_score=score, sets_time_limit=False),
    )


def _own(text: str, problem: Problem) -> tuple[Submission, ...]:
    """The problem's own that lies there, or all that lie in this folder. It may also be called by
    its name, from wherever one is."""
    path = Path(text)
    name = path.as_posix()
    if path.exists():
        base = (problem.path / _SUBMISSIONS).resolve()
        place = path.parent.resolve() / path.name
        if not place.is_relative_to(base):
            return ()
        name = place.relative_to(base).as_posix()
    inside = "" if name == "." else f"{name}/"
    return tuple(
        one for one in problem.submissions if one.name == name or one.name.startswith(inside)
    )
