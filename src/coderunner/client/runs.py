"""A run: asked for, followed if somebody listens, and its result."""

from __future__ import annotations

from typing import Any

from coderunner.answers import RunAnswer
from coderunner.client.asking import Asked
from coderunner.client.events import Events, events
from coderunner.client.exchange import ask, broken_off, understood, whole
from coderunner.client.refusals import of_problem
from coderunner.client.relay import Relay
from coderunner.client.results import Answer, answer_of
from coderunner.client.steps import Send, Talk
from coderunner.model import Stream

Facts = dict[str, Any]
_PATH = "/v1/run"
_EVENTS = "text/event-stream"
_SILENCE_S = 60  # a live answer says at least that it is alive


def run(asked: Asked, retry_s: float) -> Talk[Answer]:
    yield from ask(Send("POST", _PATH, asked.written(), silence_s=asked.patience_s), retry_s)
    return read_answer((yield from whole()))


def run_live(asked: Asked, retry_s: float) -> Talk[Answer]:
    """The same, and what it prints is told as it comes."""
    request = Send("POST", _PATH, asked.written(), accept=_EVENTS, silence_s=_SILENCE_S)
    head = yield from ask(request, retry_s)
    relay = Relay()
    if not head.headers.get("content-type", "").startswith(_EVENTS):  # a proxy may know better
        answer = read_answer((yield from whole()))
    else:
        answer = yield from follow(relay)
    yield from relay.conclude(answer.result.execution)
    return answer


def follow(relay: Relay) -> Talk[Answer]:
    """Until its end."""
    arriving = Events()
    while found := (yield from events(arriving)):
        for name, facts in found:
            match name:
                case Stream.STDOUT | Stream.STDERR:
                    yield from relay.printed(Stream(name), understood(_text, facts))
                case "dropped":
                    relay.dropped(understood(_stream, facts))
                case "end":
                    return understood(_result, facts)
                case "error":
                    raise of_problem(understood(_problem, facts))
    raise broken_off()


def read_answer(body: bytes) -> Answer:
    return understood(lambda text: answer_of(RunAnswer.model_validate_json(text)), body)


def _result(facts: Facts) -> Answer:
    return answer_of(RunAnswer.model_validate(facts["result"]))


def _problem(facts: Facts) -> Facts:
    return dict(facts["problem"])


def _text(facts: Facts) -> str:
    return str(facts["data"])


def _stream(facts: Facts) -> Stream:
    return Stream(facts["stream"])
