"""A session, as its client has it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import httpx

from tests.server.v1.streaming import Event, events

PATIENCE_S = 30.0
SLEEP = "print('asleep', flush=True)\nimport time\ntime.sleep(600)"


class Opened:
    def __init__(self, client: httpx.Client, id: str) -> None:
        self.client = client
        self.path = f"/v1/sessions/{id}"

    def post(self, what: str, **more: Any) -> httpx.Response:
        return self.client.post(f"{self.path}/{what}", **more)

    def ask(self, code: str) -> httpx.Response:
        return self.post("cells", json={"code": code})

    def run(self, code: str) -> dict[str, Any]:
        response = self.ask(code)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    @contextlib.contextmanager
    def follow(self, code: str) -> Iterator[Iterator[Event]]:
        headers = {"Accept": "text/event-stream"}
        url = f"{self.path}/cells"
        with self.client.stream("POST", url, json={"code": code}, headers=headers) as response:
            assert response.status_code == 200, response.read()
            yield events(response.iter_lines())

    @contextlib.contextmanager
    def asleep(self) -> Iterator[Iterator[Event]]:
        """While a cell runs that does not end by itself. What it is told afterwards."""
        with self.follow(SLEEP) as coming:
            until(coming, "stdout")
            yield coming

    def state(self) -> str:
        found: str = self.client.get(self.path).json()["state"]
        return found

    def works(self) -> bool:
        found = self.run("40 + 2")
        return bool(found["success"] and found["value"]["text"] == "42")

    def end(self) -> httpx.Response:
        return self.client.delete(self.path)


def until(coming: Iterator[Event], kind: str) -> Event:
    return next(event for event in coming if event["type"] == kind)


def open_one(client: httpx.Client, **asked: Any) -> Opened:
    response = client.post("/v1/sessions", json=asked)
    assert response.status_code == 201, response.text
    return Opened(client, response.json()["id"])


@contextlib.contextmanager
def opened(client: httpx.Client, **asked: Any) -> Iterator[Opened]:
    found = open_one(client, **asked)
    try:
        yield found
    finally:
        assert found.end().status_code in (204, 410)
