"""A run: asked for, followed if somebody listens, and its result."""

from __future__ import annotations

from coderunner.answers import RunAnswer
from coderunner.client.asking import Asked
from coderunner.client.exchange import ask, understood, whole
from coderunner.client.following import follow, is_live, live_request
from coderunner.client.relay import Relay
from coderunner.client.results import Answer, answer_of
from coderunner.client.steps import Send, Talk

_PATH = "/v1/run"


def run(asked: Asked) -> Talk[Answer]:
    yield from ask(Send("POST", _PATH, asked.written(), silence_s=asked.patience_s))
    return read_answer((yield from whole()))


def run_live(asked: Asked) -> Talk[Answer]:
    """The same, and what it prints is told as it comes."""
    head = yield from ask(live_request(_PATH, asked.written()))
    relay = Relay()
    if is_live(head):
        answer = yield from follow(relay, result_of)
    else:
        answer = read_answer((yield from whole()))
    yield from relay.conclude(answer.result.execution)
    return answer


def read_answer(body: bytes) -> Answer:
    return understood(lambda text: answer_of(RunAnswer.model_validate_json(text)), body)


def result_of(found: object) -> Answer:
    return answer_of(RunAnswer.model_validate(found))
