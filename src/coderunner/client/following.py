"""An answer that comes piece by piece, to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from coderunner.answers import OutcomeAnswer
from coderunner.client.events import Events, events
from coderunner.client.exchange import broken_off, understood
from coderunner.client.refusals import of_problem
from coderunner.client.relay import Listening, Steps
from coderunner.client.results import bytes_of, output_of
from coderunner.client.steps import Compiled, Head, Send, Talk
from coderunner.model import Output, Stream

T = TypeVar("T")
Facts = dict[str, Any]
_MEDIA_TYPE = "text/event-stream"
_SILENCE_S = 60  # it says at least that it is alive


def live_request(path: str, body: bytes) -> Send:
    return Send("POST", path, body, accept=_MEDIA_TYPE, silence_s=_SILENCE_S)


def is_live(head: Head) -> bool:
    """What is on the way may know better."""
    return head.headers.get("content-type", "").startswith(_MEDIA_TYPE)


def follow(listening: Listening, result: Callable[[object], T]) -> Talk[T]:
    """`result` reads what comes of it."""
    arriving = Events()
    while found := (yield from events(arriving)):
        for name, facts in found:
            if name == "end":
                return understood(lambda end: result(end["result"]), facts)
            yield from heard(listening, name, facts)
    raise broken_off()


def heard(listening: Listening, name: str, facts: Facts) -> Steps:
    """One event, but for the last one."""
    match name:
        case Stream.STDOUT | Stream.STDERR:
            yield from listening.printed(Stream(name), understood(_printed, facts))
        case "dropped":
            yield from listening.dropped(*understood(_dropped, facts))
        case "compiled":
            yield Compiled(understood(_said, facts))
        case "error":
            raise of_problem(understood(_problem, facts))


def _said(facts: Facts) -> tuple[Output, Output]:
    compilation = OutcomeAnswer.model_validate(facts["compilation"])
    return output_of(compilation.stdout), output_of(compilation.stderr)


def _problem(facts: Facts) -> Facts:
    return dict(facts["problem"])


def _printed(facts: Facts) -> bytes:
    return bytes_of(facts["data"], facts.get("base64"))


def _dropped(facts: Facts) -> tuple[Stream, int]:
    return Stream(facts["stream"]), int(facts["bytes"])
