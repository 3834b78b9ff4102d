"""One request, and what the service says to it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from coderunner.client.refusals import refusal
from coderunner.client.steps import Head, Pause, Send, Talk, more, send
from coderunner.errors import Busy, EngineUnavailable

A = TypeVar("A")
T = TypeVar("T")
LONGEST = 256 * 1024 * 1024  # no answer is longer; a service that is broken may never end
_LONGEST_REFUSAL = 64 * 1024
_SHORTEST_S = 0.05


def ask(request: Send) -> Talk[Head]:
    """Answered with something good, or it raises."""
    head = yield from send(request)
    if not 200 <= head.status < 300:
        raise refusal(head.status, head.headers, (yield from _begin(_LONGEST_REFUSAL)))
    return head


class Patience:
    """What a service is too busy for it has not begun, so that is asked again, for so long."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def pause_s(self, busy: Busy) -> float:
        """How long to wait now. Raises if that is too long."""
        wait = max(busy.retry_s, _SHORTEST_S)
        if time.monotonic() + wait > self._until:
            raise busy
        # Those who were refused together should not come back together.
        return wait * random.uniform(1, 1.25)  # noqa: S311


def patiently(attempt: Callable[[], Talk[T]], seconds: float) -> Talk[T]:
    patience = Patience(seconds)
    while True:
        try:
            return (yield from attempt())
        except Busy as busy:
            pause_s = patience.pause_s(busy)
        yield Pause(pause_s)


def whole() -> Talk[bytes]:
    """The rest of an answer."""
    body = bytearray()
    while chunk := (yield from more()):
        body += chunk
        if len(body) > LONGEST:
            raise nonsense("it does not end")
    return bytes(body)


def understood(read: Callable[[A], T], answer: A) -> T:
    """What `read` makes of it. Raises if that is nothing of ours."""
    try:
        return read(answer)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise nonsense("it is not what was asked for") from None


def nonsense(why: str) -> EngineUnavailable:
    return EngineUnavailable(
        f"the answer makes no sense: {why}",
        hint="is this a CodeRunner service, and as new as this client?",
    )


def _begin(most: int) -> Talk[bytes]:
    body = bytearray()
    while len(body) < most and (chunk := (yield from more())):
        body += chunk
    return bytes(body[:most])


def broken_off() -> EngineUnavailable:
    return EngineUnavailable(
        "the connection to the service broke off before its answer was complete",
        hint="a run that was on its way is ended then; ask again",
    )
