"""Tests and their groups, as requests and files have them, as a tree that can be graded."""

from __future__ import annotations

from collections.abc import Sequence

from coderunner.judge.groups import Group, Member, Scoring
from coderunner.judge.request import TestCase, TestGroup


def tree(tests: Sequence[TestCase], groups: Sequence[TestGroup], *, stop: bool) -> Group:
    """A test earns its share of a sum, and all of a minimum. With `stop` nothing of a group is run
    once one of its tests was rejected."""
    if not groups:
        return Group("all", tuple(map(Member, range(len(tests)))), breaks=stop)
    return Group("all", tuple(_group(group, tests, stop) for group in groups))


def _group(group: TestGroup, tests: Sequence[TestCase], stop: bool) -> Group:
    own = [(index, test.points) for index, test in enumerate(tests) if test.group == group.id]
    weight = sum(points for _, points in own) or 1.0
    shared = group.scoring is Scoring.SUM
    members = tuple(
        Member(index, group.points * points / weight if shared else group.points)
        for index, points in own
    )
    return Group(group.id, members, group.scoring, breaks=stop)
