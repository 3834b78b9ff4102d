"""What the judge says of a submission."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import ClassVar

from coderunner.judge.strictness import STRICT
from coderunner.judge.verdict import Verdict

HIDDEN = "[hidden]"


class View(StrEnum):
    """Who a result is for."""

    AUTHOR = "author"  # of the code: hidden tests stay hidden
    GRADER = "grader"  # sees everything


class ExecutionStatus(Enum):
    ALL_PASSED = "all_passed"
    SOME_PASSED = "some_passed"
    ALL_FAILED = "all_failed"
    COMPILATION_ERROR = "compilation_error"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    MEMORY_EXCEEDED = "memory_exceeded"
    SANDBOX_ERROR = "sandbox_error"  # not the code's fault: a bad request, or the machine's trouble


class TestStatus(Enum):
    __test__ = False

    PASSED = "passed"
    WRONG_ANSWER = "wrong_answer"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    MEMORY_EXCEEDED = "memory_exceeded"
    JUDGE_ERROR = "judge_error"  # only with a checker or an interactor of yours
    SKIPPED = "skipped"  # only with `stop_on_failure`


@dataclass(slots=True)
class ExecutionError:
    """Detailed error information."""

    __pydantic_config__: ClassVar = STRICT

    code: str
    message: str
    stage: str  # "validation", "compilation" or "execution"
    details: str | None = None


@dataclass(slots=True)
class TestResult:
    """Result of a single test case."""

    __pydantic_config__: ClassVar = STRICT

    __test__ = False

    test_id: str
    status: TestStatus
    actual_output: str
    expected_output: str
    execution_time_ms: int  # on the clock, rounded up
    memory_used_kb: int  # at its peak
    error_message: str | None = None  # why it failed; None if it merely printed something else
    cpu_time_ms: float = 0.0
    verdict: Verdict = Verdict.ACCEPTED  # finer than the status
    difference: str | None = None  # where the output first differs
    feedback: str | None = None  # a checker's, for the author
    judge_message: str | None = None  # a checker's, for the grader alone
    stderr: str = ""
    exit_code: int | None = None
    signal: int | None = None
    is_hidden: bool = False

    def for_author(self) -> TestResult:
        """The same without anything from which a hidden test could be learned."""
        if not self.is_hidden:
            failed = self.status is TestStatus.JUDGE_ERROR  # what a checker says of that is ours
            message = _IN_GENERAL[self.status] if failed else self.error_message
            return replace(self, judge_message=None, error_message=message)
        return replace(
            self,
            actual_output=HIDDEN,
            expected_output=HIDDEN,
            error_message=_IN_GENERAL.get(self.status),
            difference=None,
            feedback=None,
            judge_message=None,
            stderr="",
            exit_code=None,
            signal=None,
        )


# What is said of a hidden test's failure. Its own words, its exit code and its signal are things
# that a program can choose, after it has read its input.
_IN_GENERAL = {
    TestStatus.RUNTIME_ERROR: "Runtime error",
    TestStatus.TIMEOUT: "Test execution timed out",
    TestStatus.MEMORY_EXCEEDED: "Memory limit exceeded",
    TestStatus.JUDGE_ERROR: "The checker failed",
    TestStatus.SKIPPED: "Not run: an earlier test had failed",
}


@dataclass(slots=True)
class GroupResult:
    """What a group of tests has earned."""

    __pydantic_config__: ClassVar = STRICT

    id: str
    verdict: Verdict
    score: float
    max_score: float


@dataclass(slots=True)
class ExecutionResult:
    """Result of code execution."""

    __pydantic_config__: ClassVar = STRICT

    request_id: str
    status: ExecutionStatus
    test_results: list[TestResult]
    total_time_ms: int
    compilation_output: str | None  # for compiled languages: what the compiler said
    summary: str
    error_info: ExecutionError | None
    compilation_time_ms: int | None = None
    score: float | None = None  # if the request has groups
    max_score: float | None = None
    groups: list[GroupResult] = field(default_factory=list)
    isolation: str | None = None  # what the tests ran behind; None if none ran
    view: View = View.AUTHOR

    def for_author(self) -> ExecutionResult:
        """A grader's result as it may be shown to the author of the code."""
        from coderunner.judge.summary import told_to_author

        return told_to_author(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> ExecutionResult:
        from coderunner.judge.as_json import read

        return read(cls, text)

    def to_json(self) -> str:
        from coderunner.judge.as_json import write

        return write(self)
