"""Requests as no client would send them, byte by byte, and what comes back."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.server.conftest import Service

_PATIENCE_S = 60
RUN = b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CLOSE = b"Connection: close\r\n"
HELLO = json.dumps({"language": "python", "code": "print('hello')"}).encode()


@dataclass(frozen=True)
class Answer:
    status: int
    head: str
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def sized(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def send(service: Service, *parts: bytes) -> list[Answer]:
    """All answers until the service closes. It may do so before it has heard everything."""
    return answers(receive(service, parts))


def send_one(service: Service, *parts: bytes) -> Answer:
    found = send(service, *parts)
    assert len(found) == 1, found
    return found[0]


def run_body(service: Service, body: bytes) -> Answer:
    return send_one(service, RUN + CLOSE + sized(body))


def receive(service: Service, parts: Iterable[bytes]) -> bytes:
    """Parts are sent until it closes."""
    with socket.create_connection(("127.0.0.1", service.port), _PATIENCE_S) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for part in parts:
                connection.sendall(part)
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while more := connection.recv(1 << 16):
                got += more
        return got


def answers(data: bytes) -> list[Answer]:
    """Of answers that say how long they are."""
    found = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:])
        length = int(fields.get("content-length", "0"))
        found.append(Answer(int(lines[0].split()[1]), head.decode(), rest[:length]))
        data = rest[length:]
    return found
