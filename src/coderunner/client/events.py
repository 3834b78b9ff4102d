"""Server-Sent Events, read as they come."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

from coderunner.client.exchange import LONGEST, nonsense, understood
from coderunner.client.steps import Step, more

Event = tuple[str, dict[str, Any]]


class Events:
    """Bytes go in as they arrive, whole events come out."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._looked_at = 0  # as far as this there is no end of a line
        self._name = ""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[Event]:
        self._rest += chunk
        if len(self._rest) > LONGEST:
            raise nonsense("an event does not end")
        *lines, rest = self._rest[self._looked_at :].split(b"\n")
        if not lines:
            self._looked_at = len(self._rest)
            return []
        lines[0] = self._rest[: self._looked_at] + lines[0]
        self._rest, self._looked_at = rest, len(rest)
        found = (self._line(bytes(line.removesuffix(b"\r"))) for line in lines)
        return [event for event in found if event is not None]

    def _line(self, line: bytes) -> Event | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            self._name = value.decode(errors="replace")
        elif name == b"data":
            self._data.append(value)
        return None  # all else, comments too, is of no interest

    def _dispatch(self) -> Event | None:
        name, data = self._name, b"\n".join(self._data)
        self._name, self._data = "", []
        return (name, understood(_object, data)) if data else None


def events(arriving: Events) -> Generator[Step, Any, list[Event]]:
    """The next ones. None: there are no more."""
    while chunk := (yield from more()):
        if found := arriving.feed(chunk):
            return found
    return []


def _object(data: bytes) -> dict[str, Any]:
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("what an event brings is an object")
    return found
