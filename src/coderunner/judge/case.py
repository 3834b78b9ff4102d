"""One test as the judge runs it, and what came out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from coderunner.cancelling import in_thread
from coderunner.errors import faults_of_the_machine
from coderunner.judge.difference import Difference
from coderunner.judge.verdict import Verdict
from coderunner.model import File, Limits, Outcome, Output

Data = bytes | Path
"""What a test gives or expects: bytes, or a file that is read when its turn has come."""


class Comparing(Protocol):
    """A checker that needs to know nothing but what was expected and what came out."""

    def compare(self, expected: bytes, actual: bytes) -> Difference | None: ...


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    input: Data
    answer: Data
    limits: Limits = field(default_factory=Limits)
    args: tuple[str, ...] | None = None  # None: the program's own
    files: tuple[File, ...] = ()  # that the program finds beside it
    flags: tuple[str, ...] = ()  # arguments of the checker or the interactor
    checker: Comparing | None = None  # in place of the one that all cases have, if that compares
    time_ms: int | None = None  # in place of the problem's time limit
    feedback: tuple[File, ...] = ()  # what the judge's program has written in earlier passes


@dataclass(frozen=True, slots=True)
class NextPass:
    """What the program is run with once more, and what its judge wants to remember until then."""

    input: bytes
    feedback: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a checker makes of an output."""

    verdict: Verdict
    difference: Difference | None = None
    message: str = ""  # for those who run the contest
    to_author: str = ""  # for whoever wrote the program
    score: float | None = None
    share: float | None = None  # of what the case is worth
    next_pass: NextPass | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one case."""

    verdict: Verdict
    outcome: Outcome | None = None  # None: it was not run, or not to its end
    message: str = ""  # why, for the author of the program
    checked: Checked | None = None
    transcript: str = ""  # of a conversation with an interactor


async def load(data: Data) -> bytes:
    if isinstance(data, bytes):
        return data
    with faults_of_the_machine():
        return await in_thread(data.read_bytes)


def trimmed(outcome: Outcome, keep_bytes: int) -> Outcome:
    """The outcome with no more of its output than somebody wants to look at."""
    return replace(
        outcome, stdout=_head(outcome.stdout, keep_bytes), stderr=_head(outcome.stderr, keep_bytes)
    )


def _head(output: Output, keep_bytes: int) -> Output:
    data = output.data
    if len(data) <= keep_bytes:
        return output
    return Output(head=data[:keep_bytes], dropped=output.dropped + len(data) - keep_bytes)
