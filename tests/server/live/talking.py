"""A WebSocket's client."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.server.conftest import Service

PATIENCE_S = 30.0
Event = dict[str, Any]


class Talking:
    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.told: list[Event] = []

    def say(self, kind: str, **facts: Any) -> None:
        self.socket.send(json.dumps({"type": kind, **facts}))

    def type(self, text: str) -> None:
        self.say("stdin", data=text)

    def hear(self) -> Event:
        event: Event = json.loads(self.socket.recv(PATIENCE_S))
        self.told.append(event)
        return event

    def until(self, kind: str) -> Event:
        while (event := self.hear())["type"] != kind:
            pass
        return event

    def until_printed(self, text: str) -> None:
        while text not in self.printed():
            self.hear()

    def printed(self, stream: str = "stdout") -> str:
        return "".join(event["data"] for event in self.told if event["type"] == stream)

    def result(self) -> Event:
        """How it ended."""
        found: Event = self.until("end")["result"]
        return found

    def kinds(self) -> list[str]:
        return [event["type"] for event in self.told]


@contextlib.contextmanager
def connected(service: Service, **how: Any) -> Iterator[Talking]:
    url = f"ws://127.0.0.1:{service.port}/v1/live"
    with connect(url, **{"compression": None, "open_timeout": PATIENCE_S, **how}) as socket:
        yield Talking(socket)


@contextlib.contextmanager
def talking(service: Service, code: str, **asked: Any) -> Iterator[Talking]:
    with connected(service) as talk:
        talk.socket.send(json.dumps({"language": "python", "code": code, **asked}))
        yield talk


def closing_code(talk: Talking) -> int | None:
    """What the service closes with. What it says before is heard, too."""
    try:
        while True:
            talk.hear()
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None
