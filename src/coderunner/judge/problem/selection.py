"""A problem with a change: some of its tests, another memory limit, another checker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from coderunner.errors import InvalidInput
from coderunner.judge.checkers.opened import Checker
from coderunner.judge.groups import Group, Member
from coderunner.judge.problem.model import Problem

_LISTED = 8


def only(problem: Problem, pattern: str) -> Problem:
    """With those tests whose id has this in it, or looks like it if it is a glob."""
    ids = [case.id for case in problem.cases]
    kept = [place for place, name in enumerate(ids) if _fits(name, pattern)]
    if not kept:
        more = ", …" if len(ids) > _LISTED else ""
        raise InvalidInput(
            f"no test's name fits {pattern!r}", hint=f"there are {', '.join(ids[:_LISTED])}{more}"
        )
    places = {old: new for new, old in enumerate(kept)}
    return replace(
        problem,
        cases=tuple(problem.cases[place] for place in kept),
        root=_pruned(problem.root, places),
        samples=frozenset(places[place] for place in problem.samples if place in places),
    )


def _fits(name: str, pattern: str) -> bool:
    return pattern in name or fnmatchcase(name, pattern)


def _pruned(group: Group, places: Mapping[int, int]) -> Group:
    """The group with the members that are left, at their new places."""
    members: list[Member | Group] = []
    for member in group.members:
        if isinstance(member, Group):
            inner = _pruned(member, places)
            members += [inner] if inner.members else []
        elif member.index in places:
            members.append(replace(member, index=places[member.index]))
    return replace(group, members=tuple(members))


def with_memory(problem: Problem, megabytes: int) -> Problem:
    """The stack may grow as large as all the rest, as it may in contests."""
    changes = {"memory_mb": megabytes, "stack_mb": megabytes}
    cases = (replace(case, limits=case.limits.but(changes)) for case in problem.cases)
    return replace(problem, cases=tuple(cases))


def with_checker(problem: Problem, checker: Checker) -> Problem:
    if problem.interactor is not None:
        raise InvalidInput(
            f"{problem.name} is interactive: its interactor says what is right",
            hint="leave --checker out",
        )
    return replace(problem, checker=checker)
