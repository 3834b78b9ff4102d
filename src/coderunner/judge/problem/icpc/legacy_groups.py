"""testdata.yaml: what a group of tests is worth, in the words of Kattis's default grader."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from coderunner.judge.groups import Deciding, Group, Member, Scoring
from coderunner.judge.problem.document import Section
from coderunner.judge.problem.icpc.tests import Node

_SCORINGS = {scoring.value: scoring for scoring in Scoring}
_DECIDINGS = {deciding.value: deciding for deciding in Deciding} | {"no_errors": Deciding.WORST}


@dataclass(frozen=True, slots=True)
class _Grading:
    breaks: bool = True
    scoring: Scoring = Scoring.SUM
    deciding: Deciding = Deciding.WORST
    any_will_do: bool = False
    last_counts: bool = False
    accepted: float = 1.0
    rejected: float = 0.0


def legacy_group(node: Node) -> Group:
    return replace(
        _group(node, _Grading()), last_counts=_grading(node.said, _Grading()).last_counts
    )


def _group(node: Node, inherited: _Grading) -> Group:
    """A group has from the one around it what it does not say itself. But its range: that of a
    whole would be wrong for each of its parts. And a sample is ignored only at the top."""
    grading = _grading(node.said, inherited)
    members = tuple(
        _group(member, grading)
        if isinstance(member, Node)
        else Member(member, grading.accepted, grading.rejected)
        for member in node.members
    )
    return Group(
        node.id,
        members,
        scoring=grading.scoring,
        deciding=grading.deciding,
        breaks=grading.breaks,
        any_will_do=grading.any_will_do,
        most=_most(node.said),
    )


def _grading(said: Section, inherited: _Grading) -> _Grading:
    if said.text("grading", "default") != "default":
        raise said.error("grading", "graders of one's own are not supported")
    accepted, rejected = said.number("accept_score"), said.number("reject_score")
    grading = replace(
        inherited,
        breaks=_breaks(said, inherited),
        accepted=inherited.accepted if accepted is None else accepted,
        rejected=inherited.rejected if rejected is None else rejected,
    )
    return _graded_by(said, grading) if "grader_flags" in said else grading


def _breaks(said: Section, inherited: _Grading) -> bool:
    if "on_reject" not in said:
        return inherited.breaks
    value = said.text("on_reject")
    if value not in ("break", "continue"):
        raise said.error("on_reject", f"must be break or continue, not {value!r:.40}")
    return value == "break"


def _graded_by(said: Section, grading: _Grading) -> _Grading:
    """With flags of its own, none is inherited. Of two that contradict, the last one counts."""
    fresh = replace(_Grading(), **{name: getattr(grading, name) for name in _NOT_FLAGS})
    for flag in said.words("grader_flags"):
        if flag in _SCORINGS:
            fresh = replace(fresh, scoring=_SCORINGS[flag])
        elif flag in _DECIDINGS:
            fresh = replace(fresh, deciding=_DECIDINGS[flag])
        elif flag == "ignore_sample":
            fresh = replace(fresh, last_counts=True)
        elif flag == "accept_if_any_accepted":
            fresh = replace(fresh, any_will_do=True)
        else:
            known = (*_SCORINGS, *_DECIDINGS, "ignore_sample", "accept_if_any_accepted")
            hint = ", ".join(known)
            raise said.error("grader_flags", f"the grader has no flag {flag!r:.40}", hint=hint)
    return fresh


_NOT_FLAGS = ("breaks", "accepted", "rejected")


def _most(said: Section) -> float | None:
    """The upper end of its range."""
    words = said.words("range")
    if not words:
        return None
    try:
        least, most = map(float, words)
    except ValueError:
        raise said.error("range", "must be two numbers, as in 0 100") from None
    if not least <= most:
        raise said.error("range", "its first number is above its second")
    return most if math.isfinite(most) else None
