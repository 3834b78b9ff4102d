"""A problem in one JSON or YAML file: a request to the judge without the code."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from coderunner.errors import InvalidInput
from coderunner.judge import validation
from coderunner.judge.as_json import from_object
from coderunner.judge.checkers.custom import Interactor
from coderunner.judge.checkers.text import Normalized
from coderunner.judge.from_request import case_limits, case_of, tree
from coderunner.judge.problem.document import read_data
from coderunner.judge.problem.folder import Folder
from coderunner.judge.problem.model import Problem, TimeLimit
from coderunner.judge.request import (
    AnyChecker,
    ExecutionRequest,
    TestCase,
    TestGroup,
)
from coderunner.judge.strictness import STRICT
from coderunner.language import Languages

SUFFIXES = frozenset({".json", ".yaml", ".yml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFile:
    """A problem: its tests, what a submission may use, and who says what is right. The rest is as
    in a request; it is up to whoever judges a submission."""

    __pydantic_config__: ClassVar = STRICT

    name: str = ""
    test_cases: list[TestCase]
    timeout_ms: int = 5_000  # of each test
    memory_limit_mb: int = 256
    cpu_limit: float = 1.0  # cores' worth of cpu
    output_limit_kb: int = 8192  # printed to one stream before the run is ended
    checker: AnyChecker = field(default_factory=Normalized)
    interactor: Interactor | None = None
    groups: list[TestGroup] = field(default_factory=list)
    stop_on_failure: bool = False  # at the first; with groups, at the first of each
    total_timeout_ms: int | None = None  # of all tests together
    parallel: int = 1  # tests that run at once
    keep_output_kb: int = 64  # of each stream in the results
    language: str = ""
    request_id: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


def read_file(path: Path, languages: Languages) -> Problem:
    folder = Folder(path.resolve().parent)
    place = folder / path.resolve().name
    value = read_data(folder, place)
    try:
        written = from_object(ProblemFile, value)
        _check(written)
        return _problem(place, written, languages)
    except InvalidInput as error:
        raise folder.error(place, error.message, hint=error.hint) from None


def _check(written: ProblemFile) -> None:
    """By the rules for requests."""
    kept = {name: getattr(written, name) for name in _IN_A_REQUEST}
    given = {name: value for name, value in kept.items() if value is not None}
    request = ExecutionRequest(request_id="", code="-", language="", **given)
    if found := validation.problem(request):
        raise InvalidInput(found)


_IN_A_REQUEST = tuple(
    one.name for one in fields(ProblemFile) if one.name not in ("name", "language", "request_id")
)


def _problem(path: Path, written: ProblemFile, languages: Languages) -> Problem:
    tests = written.test_cases
    interactor = written.interactor
    limits = case_limits(written.memory_limit_mb)
    if written.cpu_limit != 1.0:  # not every engine can limit cores: only where it is asked for
        limits = limits.but({"cpus": written.cpu_limit})
    return Problem(
        name=written.name or path.stem,
        path=path,
        cases=tuple(case_of(test, limits, written.output_limit_kb) for test in tests),
        root=tree(tests, written.groups, stop=written.stop_on_failure),
        samples=frozenset(i for i, test in enumerate(tests) if not test.is_hidden),
        checker=written.checker,
        interactor=interactor.as_program(languages) if interactor else None,
        time=TimeLimit(written.timeout_ms),
        total_ms=written.total_timeout_ms,
        scoring=bool(written.groups),
    )
