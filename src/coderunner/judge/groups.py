"""Groups of tests: what they are worth, and which tests nobody needs to run any more.

A group holds tests and other groups. Its verdict and its score follow from those of its members, as
the graders of ICPC's and Kattis's problem packages have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from coderunner.judge.case import Judged
from coderunner.judge.verdict import Verdict

_WORST_FIRST = (
    Verdict.JUDGE_ERROR,
    Verdict.RUN_TIME_ERROR,
    Verdict.MEMORY_LIMIT,
    Verdict.TIME_LIMIT,
    Verdict.OUTPUT_LIMIT,
    Verdict.WRONG_ANSWER,
    Verdict.ACCEPTED,
)


class Scoring(StrEnum):
    """How a group's score follows from those of its members."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"
    AVG = "avg"


class Deciding(StrEnum):
    """How a group's verdict follows from those of its members."""

    WORST = "worst_error"
    FIRST = "first_error"
    ACCEPT = "always_accept"


@dataclass(frozen=True, slots=True)
class Member:
    """One test, by its place in the list of all."""

    index: int
    accepted: float = 1.0  # its score, unless a checker gives one
    rejected: float = 0.0


@dataclass(frozen=True, slots=True)
class Group:
    id: str
    members: tuple[Member | Group, ...]
    scoring: Scoring = Scoring.SUM
    deciding: Deciding = Deciding.WORST
    breaks: bool = False  # once one member is rejected, the rest is not run
    any_will_do: bool = False  # one accepted member is enough
    last_counts: bool = False  # only the last member does: the samples before it are for show
    most: float | None = None  # a score above this is cut

    def indexes(self) -> Iterator[int]:
        for member in self.members:
            if isinstance(member, Group):
                yield from member.indexes()
            else:
                yield member.index


@dataclass(frozen=True, slots=True)
class Graded:
    id: str
    verdict: Verdict
    score: float
    most: float  # the score if all is accepted
    groups: tuple[Graded, ...] = field(default=())


def grade(group: Group, results: Sequence[Judged]) -> Graded:
    """What the results are worth. Tests that were skipped count for nothing."""
    parts: list[tuple[Verdict, float, float]] = []
    graded: list[Graded] = []
    for member in group.members:
        if isinstance(member, Group):
            inner = grade(member, results)
            graded.append(inner)
            parts.append((inner.verdict, inner.score, inner.most))
        else:
            parts.append(_of_member(member, results[member.index]))
    return _combined(group, parts, tuple(graded))


def _of_member(member: Member, judged: Judged) -> tuple[Verdict, float, float]:
    accepted, checked = judged.verdict is Verdict.ACCEPTED, judged.checked
    score = member.accepted if accepted else member.rejected
    if not accepted or checked is None:
        pass  # what a checker gives, it gives to what it accepts
    elif checked.score is not None:
        score = checked.score
    elif checked.share is not None:
        score *= checked.share
    return judged.verdict, score, member.accepted


def _combined(
    group: Group, parts: list[tuple[Verdict, float, float]], inner: tuple[Graded, ...]
) -> Graded:
    if group.last_counts:
        parts = parts[-1:]
    ran = [part for part in parts if part[0] is not Verdict.SKIPPED]
    combine = _SCORES[group.scoring]
    score = combine([score for _, score, _ in ran]) if ran else 0.0
    if len(ran) < len(parts) and group.scoring is Scoring.MIN:
        score = min(score, 0.0)
    most = combine([most for _, _, most in parts]) if parts else 0.0
    if group.most is not None:
        score, most = min(score, group.most), group.most
    return Graded(group.id, _decided(group, [verdict for verdict, _, _ in ran]), score, most, inner)


def _decided(group: Group, verdicts: list[Verdict]) -> Verdict:
    if Verdict.JUDGE_ERROR in verdicts:
        return Verdict.JUDGE_ERROR
    if not verdicts:
        return Verdict.SKIPPED
    if group.any_will_do and Verdict.ACCEPTED in verdicts:
        return Verdict.ACCEPTED
    match group.deciding:
        case Deciding.ACCEPT:
            return Verdict.ACCEPTED
        case Deciding.FIRST:
            return next((v for v in verdicts if v is not Verdict.ACCEPTED), Verdict.ACCEPTED)
        case Deciding.WORST:
            return min(verdicts, key=_WORST_FIRST.index)


_SCORES: dict[Scoring, Callable[[list[float]], float]] = {
    Scoring.SUM: sum,
    Scoring.MIN: min,
    Scoring.MAX: max,
    Scoring.AVG: lambda scores: sum(scores) / len(scores),
}


def skips(group: Group) -> Callable[[int], frozenset[int]]:
    """For each test, those after it that need not be run once it was rejected."""
    paths = dict(_paths(group, ()))

    def after(index: int) -> frozenset[int]:
        skipped: set[int] = set()
        inner: frozenset[int] = frozenset({index})
        for ancestor in paths[index]:
            everything = frozenset(ancestor.indexes())
            if ancestor.breaks:
                skipped.update(other for other in everything - inner if other > index)
            if ancestor.any_will_do or ancestor.deciding is Deciding.ACCEPT:
                break  # that one is not rejected by this
            inner = everything
        return frozenset(skipped)

    return after


def _paths(group: Group, above: tuple[Group, ...]) -> Iterator[tuple[int, tuple[Group, ...]]]:
    """Each test with the groups around it, the innermost first."""
    path = (group, *above)
    for member in group.members:
        if isinstance(member, Group):
            yield from _paths(member, path)
        else:
            yield member.index, path
