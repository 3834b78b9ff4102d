"""test_group.yaml: what a group of tests is worth since version 2023-07 of the format.

The score is that of data/secret. It has either tests or groups of tests, and those have tests,
however deep in directories.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from coderunner.judge.groups import Group, Member, Scoring
from coderunner.judge.problem.document import Section
from coderunner.judge.problem.icpc.tests import SAMPLE, SECRET, Node

_ALL = 100.0  # what data/secret is worth, if nothing is said


class _Aggregation(StrEnum):
    ALL = "pass-fail"  # nothing, unless all are accepted
    SUM = "sum"
    MIN = "min"


@dataclass(frozen=True, slots=True)
class _Rules:
    """How the score of a group comes about. `most` is None if it has no bound."""

    aggregation: _Aggregation
    most: float | None

    @property
    def adds_up(self) -> bool:
        return self.aggregation is _Aggregation.SUM

    @property
    def scoring(self) -> Scoring:
        return Scoring.SUM if self.adds_up else Scoring.MIN


def pass_fail_group(node: Node) -> Group:
    """All have to be accepted, so the first that is not settles it."""
    members = (
        pass_fail_group(member) if isinstance(member, Node) else Member(member)
        for member in node.members
    )
    return Group(node.id, tuple(members), breaks=True)


def scored_group(root: Node) -> Group:
    """Samples are run, but are worth nothing."""
    members: list[Group] = []
    for node in root.members:
        assert isinstance(node, Node)
        if node.id == SAMPLE:
            places = tuple(Member(place, accepted=0.0) for place in node.places())
            members.append(Group(SAMPLE, places))
        else:
            members.append(_secret(node, root))
    return Group(root.id, tuple(members), last_counts=True)


def _secret(secret: Node, root: Node) -> Group:
    rules = _rules(secret.said, _Aggregation.SUM, _ALL)
    groups = [member for member in secret.members if isinstance(member, Node)]
    if not groups:
        inner = _tests(SECRET, tuple(secret.places()), rules)
    elif len(groups) < len(secret.members):
        raise secret.said.error("", "data/secret may have tests or groups of tests, not both")
    else:
        scored = tuple(_group(group, rules, root) for group in groups)
        breaks = rules.aggregation is _Aggregation.ALL
        inner = Group(SECRET, scored, rules.scoring, breaks=breaks, most=rules.most)
    return _depending(inner, rules, secret, root)


def _group(node: Node, secret: _Rules, root: Node) -> Group:
    rules = _rules(node.said, _Aggregation.ALL, None)
    if secret.aggregation is _Aggregation.ALL:
        if rules.aggregation is not _Aggregation.ALL:
            raise node.said.error("score_aggregation", "must be pass-fail, as that of secret is")
        rules = _Rules(rules.aggregation, secret.most)
    elif rules.most is None and (secret.most is not None or not _may_be_unbounded(rules)):
        raise node.said.error("max_score", "is missing: how much is this group worth?")
    return _depending(_tests(node.id, tuple(node.places()), rules), rules, node, root)


def _may_be_unbounded(rules: _Rules) -> bool:
    return rules.aggregation is not _Aggregation.ALL


def _tests(name: str, places: Sequence[int], rules: _Rules) -> Group:
    """A test of a sum is worth its share. Without a bound its checker has to say what it is."""
    each = (rules.most or 0.0) / (len(places) if rules.adds_up else 1)
    members = tuple(Member(place, accepted=each) for place in places)
    return Group(name, members, rules.scoring, breaks=not rules.adds_up, most=rules.most)


def _depending(group: Group, rules: _Rules, node: Node, root: Node) -> Group:
    """Worth nothing unless all the tests of other groups that it requires were accepted. So these
    are in it a second time, beside what it is worth otherwise: the least of all counts."""
    required = _required(node, root)
    if not required:
        return group
    worth = math.inf if rules.most is None else rules.most
    others = tuple(Member(place, accepted=worth) for place in required)
    return Group(group.id, (*others, group), Scoring.MIN, most=rules.most)


def _required(node: Node, root: Node) -> list[int]:
    """The tests of all groups that it requires, and of those that they require."""
    known = {one.id: one for one in root.nodes() if one.id.count("/") <= 1 and one is not root}
    earlier = {name: one for name, one in known.items() if name < node.id}
    found: set[int] = set()
    for name in node.said.words("require_pass"):
        other = earlier.get(name) or earlier.get(f"{SECRET}/{name}")
        if other is None or other.id == SECRET:
            hint = ", ".join(name for name in earlier if name != SECRET)
            why = f"{name!r:.60} is no group that comes before this one"
            raise node.said.error("require_pass", why, hint=hint)
        found.update(other.places(), _required(other, root))
    return sorted(found)


def _rules(said: Section, default: _Aggregation, most: float | None) -> _Rules:
    name = said.text("score_aggregation", default)
    known: Mapping[str, _Aggregation] = {one.value: one for one in _Aggregation}
    if name not in known:
        hint = ", ".join(known)
        raise said.error("score_aggregation", f"{name!r:.40} is no way to do it", hint=hint)
    if said.get("max_score") == "unbounded":
        most = None
    elif (given := said.number("max_score", least=0)) is not None:
        most = float(given)
    if most is None and default is _Aggregation.SUM and name == _Aggregation.ALL:
        raise said.error("max_score", "must have a bound if score_aggregation is pass-fail")
    return _Rules(known[name], most)
