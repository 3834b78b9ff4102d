"""From what is answered to the library's types: what `as_json` has written, read again."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from coderunner.answers import LeftOut, OutcomeAnswer, Printed, ReturnedFile, RunAnswer
from coderunner.model import Outcome, Output, Result, Usage
from coderunner.workspace.collection import CollectedFile, Skipped
from coderunner.workspace.names import decoded


@dataclass(frozen=True, slots=True)
class Answer:
    """A run's result, and what the service says beside it."""

    result: Result
    language: str
    version: str
    exit_code: int


def answer_of(found: RunAnswer) -> Answer:
    """Raises ValueError for what no run can have."""
    if found.compilation is None and found.execution is None:
        raise ValueError("neither compiled nor run")
    result = Result(
        _outcome(found, found.compilation),
        _outcome(found, found.execution),
        tuple(_file(file) for file in found.files),
        tuple(Skipped(_name(one), one.reason) for one in found.files_left_out),
    )
    return Answer(result, found.language, found.version, found.exit_code)


def output_of(printed: Printed) -> Output:
    data = bytes_of(printed.text, printed.base64)
    if printed.dropped_at is None:
        return Output(head=data)
    at = printed.dropped_at
    return Output(head=data[:at], tail=data[at:], dropped=printed.dropped_bytes)


def _outcome(whole: RunAnswer, part: OutcomeAnswer | None) -> Outcome | None:
    if part is None:
        return None
    return Outcome(
        ended_by=part.ended_by,
        exit_code=part.exit_code,
        signal=part.signal,
        usage=Usage(part.usage.wall_ms, part.usage.cpu_ms, part.usage.memory_peak_kb),
        stdout=output_of(part.stdout),
        stderr=output_of(part.stderr),
        isolation=whole.isolation,
        engine=whole.engine,
        cached=part.cached,
        warm=part.warm,
        container=part.container,
    )


def _file(file: ReturnedFile) -> CollectedFile:
    return CollectedFile(_name(file), bytes_of(file.text, file.base64), executable=file.executable)


def _name(named: ReturnedFile | LeftOut) -> str:
    return decoded(bytes_of(named.name, named.name_base64))


def bytes_of(text: str, exact: str | None) -> bytes:
    return base64.b64decode(exact, validate=True) if exact else text.encode()
