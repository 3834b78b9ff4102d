"""What became of a problem's submissions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coderunner.judge.case import Judged
from coderunner.judge.compiler import CompilationResult
from coderunner.judge.groups import Graded
from coderunner.judge.problem.model import Problem, Submission
from coderunner.judge.verdict import Verdict
from coderunner.model import EndedBy, Isolation

if TYPE_CHECKING:
    from coderunner.judge.problem.timing import TimeFound

_FINE = frozenset({Verdict.ACCEPTED, Verdict.SKIPPED})
_HAIR = 1e-9  # sums of points are floats


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one submission."""

    submission: Submission
    verdict: Verdict | None  # None: it was not judged, and `reason` says why
    cases: tuple[Judged, ...] = ()  # in the problem's order; none if it did not compile
    graded: Graded | None = None
    compilation: CompilationResult | None = None
    reason: str = ""
    hint: str = ""
    on_clock: bool = False  # it is the clock's time that counts, not the cpu's

    @property
    def score(self) -> float:
        return self.graded.score if self.graded else 0.0

    @property
    def as_expected(self) -> bool | None:
        """None if it was not judged, or nobody has said what is right for it."""
        expected, bounds = self.submission.expected, self.submission.expected_score
        if self.verdict is None or (expected is None and bounds is None):
            return None
        if expected is None:
            fits = self.verdict is not Verdict.JUDGE_ERROR  # that is nobody's score
        else:
            fits = self.verdict in expected
        if bounds is None:
            return fits
        return fits and bounds[0] - _HAIR <= self.score <= bounds[1] + _HAIR

    @property
    def good(self) -> bool:
        """As expected; accepted, if nothing is."""
        as_expected = self.as_expected
        return self.verdict is Verdict.ACCEPTED if as_expected is None else as_expected

    @property
    def first_failed(self) -> int | None:
        """The place of the first case that was not accepted."""
        places = enumerate(self.cases)
        return next((place for place, case in places if case.verdict not in _FINE), None)

    @property
    def slowest_ms(self) -> float:
        return max((self.taken_ms(case) for case in self.cases), default=0.0)

    @property
    def memory_peak_kb(self) -> int:
        outcomes = (case.outcome for case in self.cases)
        return max((one.usage.memory_peak_kb for one in outcomes if one), default=0)

    def taken_ms(self, case: Judged) -> float:
        """The time that counts. Who has run out of the clock's may have used no other."""
        if case.outcome is None:
            return 0.0
        by_clock = self.on_clock or case.outcome.ended_by is EndedBy.WALL_TIME
        return case.outcome.usage.wall_ms if by_clock else case.outcome.usage.cpu_ms


@dataclass(frozen=True, slots=True)
class Report:
    """What became of all of them."""

    problem: Problem
    judgements: tuple[Judgement, ...]  # in the order in which they were asked for
    left_out: tuple[Submission, ...]  # not looked at any more, once another was no good
    time_limit: TimeFound
    engine: str
    isolation: Isolation
    seconds: float  # that it took
    for_author: bool = False  # nothing is in here from which a hidden test could be learned

    @property
    def not_judged(self) -> tuple[Judgement, ...]:
        return tuple(one for one in self.judgements if one.verdict is None)

    @property
    def not_good(self) -> tuple[Judgement, ...]:
        """Those that were judged, and are not what they should be."""
        return tuple(one for one in self.judgements if one.verdict and not one.good)

    @property
    def ok(self) -> bool:
        return not self.not_judged and not self.not_good

    def hides(self, place: int) -> bool:
        """Whether nothing is to be shown of this case."""
        return self.for_author and place not in self.problem.samples
