"""What is asked of the judge: code, tests, limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from coderunner.errors import InvalidInput
from coderunner.judge.checkers.custom import Interactor
from coderunner.judge.checkers.opened import Checker
from coderunner.judge.checkers.text import Normalized
from coderunner.judge.defaults import defaults
from coderunner.judge.groups import Scoring
from coderunner.judge.language import Language
from coderunner.judge.strictness import STRICT
from coderunner.settings import JudgeSettings


def _in_a_word(value: object) -> object:
    """`"checker": "tokens"` is short for the one without options."""
    return {"kind": value} if isinstance(value, str) else value


AnyChecker = Annotated[Checker, Field(discriminator="kind"), BeforeValidator(_in_a_word)]


def _as_set(name: str) -> Any:
    """What this installation's settings say, at the time that the request is made."""
    return field(default_factory=lambda: getattr(defaults(), name))


def _published(name: str) -> Any:
    """The schema says what holds where nobody has set anything else."""
    return Field(json_schema_extra={"default": JudgeSettings.model_fields[name].default})


@dataclass(slots=True)
class TestCase:
    """A single test case."""

    __pydantic_config__: ClassVar = STRICT

    __test__ = False  # it is not one of pytest's

    id: str
    input: str  # the program's stdin
    expected_output: str  # what it should print
    is_hidden: bool = False  # nothing of it is told to the author of the code
    timeout_ms: int | None = None  # in place of the request's
    description: str = ""
    group: str = ""  # one of the request's groups
    points: float = 1.0  # what it weighs in its group


@dataclass(slots=True)
class TestGroup:
    """A subtask. `sum`: each test earns its share of the points. `min`: all of them must pass."""

    __pydantic_config__: ClassVar = STRICT

    __test__ = False

    id: str
    points: float
    scoring: Scoring = Scoring.MIN

    def __post_init__(self) -> None:
        try:
            self.scoring = Scoring(self.scoring)  # text will do
        except ValueError:
            known = ", ".join(Scoring)
            raise InvalidInput(
                f"there is no scoring {self.scoring!r:.80}", hint=f"there are {known}"
            ) from None


@dataclass(slots=True)
class ExecutionRequest:
    """Request to execute code."""

    __pydantic_config__: ClassVar = STRICT

    request_id: str
    code: str
    language: Language | str
    test_cases: list[TestCase]
    # of each test, on the clock
    timeout_ms: Annotated[int, _published("timeout_ms")] = _as_set("timeout_ms")
    # of all tests together
    total_timeout_ms: Annotated[int, _published("total_timeout_ms")] = _as_set("total_timeout_ms")
    memory_limit_mb: Annotated[int, _published("memory_limit_mb")] = _as_set("memory_limit_mb")
    # cores' worth of cpu
    cpu_limit: Annotated[float, _published("cpu_limit")] = _as_set("cpu_limit")
    metadata: dict[str, Any] = field(default_factory=dict)
    checker: AnyChecker = field(default_factory=Normalized)
    interactor: Interactor | None = None
    groups: list[TestGroup] = field(default_factory=list)
    parallel: int = 1  # tests that run at once
    stop_on_failure: bool = False  # at the first; with groups, at the first of each
    output_limit_kb: int = 8192  # printed to one stream before the run is ended
    # of each stream in the results
    keep_output_kb: Annotated[int, _published("keep_output_kb")] = _as_set("keep_output_kb")

    def __post_init__(self) -> None:
        if isinstance(self.language, str):
            try:
                self.language = Language(self.language)
            except ValueError:
                return  # the judge says so, with all the rest that is wrong

    @property
    def language_name(self) -> str:
        return self.language.value if isinstance(self.language, Language) else str(self.language)

    @classmethod
    def from_json(cls, text: str | bytes) -> ExecutionRequest:
        from coderunner.judge.as_json import read

        return read(cls, text)

    def to_json(self) -> str:
        from coderunner.judge.as_json import write

        return write(self)
