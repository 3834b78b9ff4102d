"""A reader of Server-Sent Events, as the standard has them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import httpx

Event = dict[str, Any]


@contextlib.contextmanager
def streaming(client: httpx.Client, **asked: Any) -> Iterator[Iterator[Event]]:
    body = {"language": "python", **asked}
    headers = {"Accept": "text/event-stream"}
    with client.stream("POST", "/v1/run", json=body, headers=headers) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield events(response.iter_lines())


def streamed(client: httpx.Client, **asked: Any) -> list[Event]:
    """All of it, but for the heartbeat."""
    with streaming(client, **asked) as coming:
        return [event for event in coming if event["type"] != "comment"]


def events(lines: Iterator[str]) -> Iterator[Event]:
    """With its name as `type`; a comment has the type `comment`."""
    kind, data = "", ""
    for line in lines:
        if line.startswith(":"):
            yield {"type": "comment"}
        elif line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            data += line.removeprefix("data: ")
        elif kind:
            yield {"type": kind, **json.loads(data)}
            kind, data = "", ""


def printed(told: list[Event], stream: str = "stdout") -> str:
    return "".join(event["data"] for event in told if event["type"] == stream)
