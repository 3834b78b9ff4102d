"""A problem as it is judged, whatever it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coderunner.judge.case import Case
from coderunner.judge.checkers.opened import Checker
from coderunner.judge.checkers.program import JudgeProgram
from coderunner.judge.checkers.text import Normalized
from coderunner.judge.groups import Group
from coderunner.judge.verdict import Verdict
from coderunner.model import File, Limits, Program


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Given, or to be found out: a multiple of what the slowest accepted submission takes."""

    ms: int | None = None
    multiplier: float = 2.0
    resolution_ms: int = 1000  # what is found out is rounded up to a multiple of this


@dataclass(frozen=True, slots=True)
class Submission:
    """What somebody has handed in, and which verdicts are right for it."""

    name: str  # accepted/hello.py
    program: Program | None  # None: it cannot be judged, and `problem` says why
    expected: frozenset[Verdict] | None = None  # None: nobody has said
    problem: str = ""
    sets_time_limit: bool = False  # it must be accepted, so the time limit is made to fit it
    expected_score: tuple[float, float] | None = None  # at least, at most


@dataclass(frozen=True, slots=True)
class Problem:
    name: str
    path: Path
    cases: tuple[Case, ...]  # their limits are the problem's, but for the time
    root: Group  # of all cases, by their places in `cases`
    samples: frozenset[int] = frozenset()  # cases that everybody may see; the others are hidden
    checker: Checker | JudgeProgram = field(default_factory=Normalized)
    interactor: JudgeProgram | None = None
    time: TimeLimit = field(default_factory=TimeLimit)
    total_ms: int | None = None  # on the clock, for all cases of a submission together
    compile_limits: Limits | None = None  # None: the language's own
    scoring: bool = False  # points are given, not just a verdict
    submissions: tuple[Submission, ...] = ()
    included: Mapping[str, tuple[File, ...]] = field(default_factory=dict)
    """Files that every submission in a language gets, by the language's name."""
