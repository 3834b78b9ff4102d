"""Tests and groups, as requests and files have them, as cases and a tree that can be graded."""

from __future__ import annotations

from collections.abc import Sequence

from coderunner.judge.case import Case
from coderunner.judge.groups import Group, Member, Scoring
from coderunner.judge.request import TestCase, TestGroup
from coderunner.model import Limits

_PROCESSES = 64
_KIB = 1024


def case_of(test: TestCase, limits: Limits, output_limit_kb: int) -> Case:
    """All that is printed is kept to be compared, and a right answer always fits."""
    answer = _bytes(test.expected_output)
    flood = max(output_limit_kb * _KIB, 2 * len(answer))
    kept = limits.but({"flood_bytes": flood, "output_bytes": flood})
    return Case(test.id, _bytes(test.input), answer, kept, time_ms=test.timeout_ms)


def case_limits(memory_mb: int, processes: int = _PROCESSES) -> Limits:
    """The stack may grow as large as all the rest, as it may in contests."""
    return Limits(memory_mb=memory_mb, stack_mb=memory_mb, processes=processes)


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


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
