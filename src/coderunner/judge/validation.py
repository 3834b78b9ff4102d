"""What is wrong with a request, before anything is run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TypeGuard

from coderunner.errors import InvalidInput
from coderunner.judge.checkers.custom import CheckerProgram, Interactor
from coderunner.judge.checkers.opened import Checker
from coderunner.judge.checkers.program import Convention
from coderunner.judge.request import ExecutionRequest, TestCase, TestGroup
from coderunner.text import as_bytes

MEMORY_MB = range(16, 1024 + 1)
TIMEOUT_MS = range(100, 60_000 + 1)
_LONGEST_TOTAL_MS = 24 * 3600 * 1000
_MOST_PARALLEL = 1024
_MOST_KB = 1024 * 1024
_MOST_CORES = 1024
_MOST_POINTS = 1e9  # so that no sum of them is infinite


def problem(request: ExecutionRequest) -> str:
    """The first thing that is wrong, or nothing."""
    return next((found for check in _CHECKS if (found := check(request))), "")


def _code(request: ExecutionRequest) -> str:
    code: object = request.code  # callers without a type checker pass anything
    if not isinstance(code, str):
        return "Code must be text"
    if not code.replace("\0", "").strip():
        return "Empty code"
    return _not_text(code, "the code")


def _tests(request: ExecutionRequest) -> str:
    cases: object = request.test_cases
    if not cases:
        return "No test cases provided"
    if not isinstance(cases, list | tuple) or not all(isinstance(c, TestCase) for c in cases):
        return "Test cases must be a list of TestCase"
    for case in request.test_cases:
        if found := _case(case):
            return found
    return _twice("test case", (case.id for case in request.test_cases))


def _case(case: TestCase) -> str:
    name: object = case.id
    if not isinstance(name, str) or not name:
        return f"Invalid id of a test case: {name!r:.80}"
    hidden: object = case.is_hidden
    if not isinstance(hidden, bool):  # what is meant by "false", or by nothing, is not guessed
        return f"Invalid is_hidden of test case {name!r:.80}: {hidden!r:.80}"
    for field in ("description", "group"):
        if not isinstance(getattr(case, field), str):
            return f"Invalid {field} of test case {name!r:.80}: it must be text"
    for field in ("input", "expected_output"):
        value = getattr(case, field)
        what = f"{field} of test case {case.id!r:.80}"
        if not isinstance(value, str):
            return f"Invalid {what}: it must be text"
        if found := _not_text(value, what):
            return found
    if case.timeout_ms is not None and not _within(case.timeout_ms, TIMEOUT_MS):
        return f"Invalid timeout of test case {case.id!r:.80}: {case.timeout_ms!r:.80}ms"
    if not _are_points(case.points):
        return f"Invalid points of test case {case.id!r:.80}: {case.points!r:.80}"
    return ""


def _memory(request: ExecutionRequest) -> str:
    given = request.memory_limit_mb
    return "" if _within(given, MEMORY_MB) else f"Invalid memory limit: {given!r:.80}MB"


def _timeout(request: ExecutionRequest) -> str:
    given = request.timeout_ms
    return "" if _within(given, TIMEOUT_MS) else f"Invalid timeout: {given!r:.80}ms"


def _total_timeout(request: ExecutionRequest) -> str:
    given = request.total_timeout_ms
    if _within(given, range(1, _LONGEST_TOTAL_MS + 1)):
        return ""
    return f"Invalid total timeout: {given!r:.80}ms"


def _cpu(request: ExecutionRequest) -> str:
    given = request.cpu_limit
    fits = _is_number(given) and 0 < given <= _MOST_CORES
    return "" if fits else f"Invalid cpu limit: {given!r:.80}"


def _counts(request: ExecutionRequest) -> str:
    for name, most in (
        ("parallel", _MOST_PARALLEL),
        ("output_limit_kb", _MOST_KB),
        ("keep_output_kb", _MOST_KB),
    ):
        given = getattr(request, name)
        if not _within(given, range(1, most + 1)):
            return f"Invalid {name}: {given!r:.80}; it must be from 1 to {most}"
    return ""


def _judges(request: ExecutionRequest) -> str:
    checker: object = request.checker
    if not isinstance(checker, Checker):
        return f"Invalid checker: {checker!r:.80}; it must be one of Tokens(), Exact(), …"
    interactor: object = request.interactor
    if not isinstance(interactor, Interactor | None):
        return f"Invalid interactor: {interactor!r:.80}; it must be an Interactor"
    found = _program(checker, "checker") if isinstance(checker, CheckerProgram) else ""
    return found or (_program(interactor, "interactor") if interactor is not None else "")


def _program(written: CheckerProgram | Interactor, what: str) -> str:
    kinds = (("code", str), ("language", str), ("args", list | tuple), ("files", Mapping))
    for field, kind in kinds:
        if not isinstance(getattr(written, field), kind):
            return f"Invalid {field} of the {what}: {getattr(written, field)!r:.80}"
    texts = (*written.args, *written.files, *written.files.values())
    if not all(isinstance(text, str) for text in texts):
        return f"Invalid args or files of the {what}: they must be text"
    if written.convention not in tuple(Convention):
        return f"Invalid convention of the {what}: {written.convention!r:.80}"
    return ""


def _rest(request: ExecutionRequest) -> str:
    kinds = (("request_id", str, "text"), ("metadata", dict, "a dict"))
    for name, kind, what in (*kinds, ("stop_on_failure", bool, "True or False")):
        if not isinstance(getattr(request, name), kind):
            return f"Invalid {name}: it must be {what}"
    return ""


def _groups(request: ExecutionRequest) -> str:
    groups: object = request.groups
    if not isinstance(groups, list | tuple) or not all(isinstance(g, TestGroup) for g in groups):
        return "Every group must be a TestGroup, in a list"
    for group in request.groups:
        name: object = group.id
        if not isinstance(name, str) or not name:
            return f"Invalid id of a group: {name!r:.80}"
        if not _are_points(group.points):
            return f"Invalid points of group {group.id!r:.80}: {group.points!r:.80}"
    known = {group.id for group in request.groups}
    lost = next((case for case in request.test_cases if case.group not in known | {""}), None)
    if lost is not None:
        return f"Test case {lost.id!r:.80} is in group {lost.group!r:.80}, which does not exist"
    ungrouped = next((case for case in request.test_cases if known and not case.group), None)
    if ungrouped is not None:
        return f"Test case {ungrouped.id!r:.80} is in no group, but there are groups"
    return _twice("group", (group.id for group in request.groups))


_CHECKS: tuple[Callable[[ExecutionRequest], str], ...] = (
    _code,
    _tests,
    _memory,
    _timeout,
    _total_timeout,
    _cpu,
    _counts,
    _rest,
    _judges,
    _groups,
)


def _within(value: object, allowed: range) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in allowed


def _is_number(value: object) -> TypeGuard[int | float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value)


def _are_points(value: object) -> bool:
    return _is_number(value) and 0 <= value <= _MOST_POINTS


def _not_text(value: str, what: str) -> str:
    try:
        as_bytes(value, what)
    except InvalidInput as error:
        return str(error)
    return ""


def _twice(what: str, ids: Iterable[str]) -> str:
    name = next((name for name, count in Counter(ids).items() if count > 1), None)
    return "" if name is None else f"Two {what}s have the id {name!r:.80}"
