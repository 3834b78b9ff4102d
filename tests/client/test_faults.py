"""Whatever goes wrong between here and there is told as what it is, and soon."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import threading
import time
from collections.abc import Callable

import pytest

from coderunner import (
    AccessDenied,
    AsyncClient,
    Busy,
    Client,
    CodeRunnerError,
    EngineUnavailable,
    File,
    InvalidInput,
    Limits,
    Program,
    Stream,
)
from coderunner.client import asking
from tests.client.scripted import Script, Scripted, answer
from tests.server.conftest import Service
from tests.server.v1.boxes import box_of

pytestmark = pytest.mark.integration
PROBLEM = "application/problem+json"
EVENTS = "text/event-stream"
GOOD = {
    "language": "python", "version": "3", "ok": True, "exit_code": 0, "engine": "linux",
    "isolation": "full", "compilation": None, "files": [], "files_left_out": [],
    "execution": {
        "ended_by": "exit", "exit_code": 0, "signal": None, "cached": False, "warm": False,
        "usage": {"wall_ms": 1, "cpu_ms": 1, "memory_peak_kb": 1},
        "stdout": {"text": "42\n", "base64": None, "dropped_bytes": 0, "dropped_at": None},
        "stderr": {"text": "", "base64": None, "dropped_bytes": 0, "dropped_at": None},
    },
}  # fmt: skip
WELL = answer(200, json.dumps(GOOD).encode())


def problem(status: int, kind: str, *more: str) -> bytes:
    body = {"type": f"urn:coderunner:{kind}", "status": status, "detail": "why", "hint": "what"}
    return answer(status, json.dumps(body).encode(), PROBLEM, *more)


def busy(status: int, after: str = "0") -> bytes:
    return problem(status, "busy", f"Retry-After: {after}")


def events(*told: tuple[str, object], short_by: int = 0) -> bytes:
    text = "".join(f"event: {name}\ndata: {json.dumps(facts)}\n\n" for name, facts in told)
    return answer(200, text.encode(), EVENTS, short_by=short_by)


def run(url: str, *, live: bool = False, retry_s: float = 5) -> str:
    with Client(url, retry_s=retry_s) as client:
        return client.run("x", sink=(lambda stream, data: None) if live else None).stdout


def failure(*scripts: Script | bytes, live: bool = False, retry_s: float = 5) -> CodeRunnerError:
    with Scripted(*scripts) as server, pytest.raises(CodeRunnerError) as found:
        run(server.url, live=live, retry_s=retry_s)
    return found.value


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(EngineUnavailable, match="nobody answers at") as found:
        run(url)
    assert "coderunner serve" in found.value.hint


async def test_nobody_listens_to_a_conversation() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    async with AsyncClient(url) as client:
        with pytest.raises(EngineUnavailable, match="nobody answers at"):
            await client.converse(Program("python", (File("main.py", b"1"),)))


NONSENSE: dict[str, bytes] = {
    "no HTTP": b"220 mail.example.org ESMTP\r\n\r\n",
    "a page": answer(200, b"<html>Welcome!</html>", "text/html"),
    "no object": answer(200, b"[1, 2]"),
    "another object": answer(200, b'{"hello": "world"}'),
    "numbers for text": answer(200, json.dumps({**GOOD, "engine": 7}).encode()),
    "no base64": answer(
        200,
        json.dumps(
            {**GOOD, "files": [{"name": "x", "base64": "?"}]},
        ).encode(),
    ),
    "neither compiled nor run": answer(200, json.dumps({**GOOD, "execution": None}).encode()),
    "too deep": answer(200, b"[" * 100_000),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_garbage(name: str) -> None:
    error = failure(NONSENSE[name])
    assert type(error) is EngineUnavailable
    assert "makes no sense" in error.message


BAD_EVENTS: dict[str, bytes] = {
    "no JSON": answer(200, b"event: end\ndata: {\n\n", EVENTS),
    "no result": events(("end", {})),
    "another result": events(("end", {"result": {"a": 1}})),
    "no text": events(("stdout", {"data": 5})),
    "no bytes": events(("stdout", {"data": "", "base64": "?"})),
    "no stream": events(("dropped", {"stream": "stdin", "bytes": 1})),
}


@pytest.mark.parametrize("name", BAD_EVENTS)
def test_garbage_in_events(name: str) -> None:
    assert "makes no sense" in failure(BAD_EVENTS[name], live=True).message


@pytest.mark.parametrize("status", [301, 302, 404, 405, 500, 502, 504])
def test_other_servers_and_proxies(status: int) -> None:
    """Nobody is followed elsewhere: the token is for this service."""
    error = failure(answer(status, b"<html>", "text/html", "Location: http://127.0.0.1:1/"))
    assert type(error) is EngineUnavailable
    assert f"status {status}" in error.message


def test_a_proxy_that_cuts_an_answer() -> None:
    body = json.dumps(GOOD).encode()
    assert "broke off" in failure(answer(200, body[:100], short_by=len(body) - 100)).message


def test_a_connection_that_ends_without_an_answer() -> None:
    assert "broke off" in failure(b"").message


@pytest.mark.parametrize("short_by", [0, 1000])
def test_a_proxy_that_cuts_events(short_by: int) -> None:
    """Even if it makes a neat end of it."""
    told = events(("queued", {}), ("stdout", {"data": "x"}), short_by=short_by)
    assert "broke off" in failure(told, live=True).message


def test_a_service_that_fails_on_the_way() -> None:
    told = {"type": "urn:coderunner:engine-unavailable", "detail": "no more", "status": 503}
    error = failure(events(("started", {}), ("error", {"problem": told})), live=True)
    assert (type(error), error.message) == (EngineUnavailable, "no more")


def test_a_service_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own limits are over, and some time to spare."""
    monkeypatch.setattr(asking, "_TO_SPARE_S", 0.2)
    over = threading.Event()

    def silent(connection: socket.socket) -> None:
        over.wait(30)

    with Scripted(silent) as server, Client(server.url) as client:
        limits = Limits(wall_ms=100)
        with pytest.raises(EngineUnavailable, match="said nothing for too long"):
            client.run("x", limits=limits, compile_limits=limits)
        over.set()


def test_busy_services_are_asked_again() -> None:
    with Scripted(busy(429), busy(503), WELL) as server:
        assert run(server.url) == "42\n"
    assert len(server.requests) == 3
    assert len(set(server.requests)) == 1


def test_busy_services_are_asked_again_when_that_is_told_late() -> None:
    told = {"type": "urn:coderunner:busy", "detail": "full", "status": 503}
    late = events(("queued", {}), ("error", {"problem": told}))
    with Scripted(late, events(("end", {"result": GOOD}))) as server:
        assert run(server.url, live=True) == "42\n"


def test_patience_has_an_end() -> None:
    error = failure(busy(429), retry_s=0.5)
    assert type(error) is Busy
    assert isinstance(error, EngineUnavailable)
    assert error.message == "why"


def test_nobody_waits_for_what_would_be_too_late() -> None:
    with Scripted(busy(503, "3600")) as server, pytest.raises(Busy) as found:
        run(server.url)
    assert len(server.requests) == 1
    assert found.value.retry_s == 3600


@pytest.mark.parametrize("after", ["soon", "nan", "inf", ""])
def test_a_time_that_is_none_is_no_promise(after: str) -> None:
    assert type(failure(problem(503, "engine-unavailable", f"Retry-After: {after}"))) is (
        EngineUnavailable
    )


def test_a_hostile_service_does_not_reach_the_terminal() -> None:
    body = {"type": "x", "status": 422, "detail": "\x1b]0;owned\x07" + "x" * 10_000, "hint": 5}
    error = failure(answer(422, json.dumps(body).encode(), PROBLEM))
    assert isinstance(error, InvalidInput)
    assert "\x1b" not in error.message
    assert len(error.message) <= 4000
    assert error.hint == ""


def test_a_service_that_is_killed_while_it_runs(serve: Callable[..., Service]) -> None:
    mine = serve(prestart=[])

    def kill(stream: Stream, data: bytes) -> None:
        mine.process.send_signal(signal.SIGKILL)

    with Client(mine.url) as client:
        with pytest.raises(EngineUnavailable, match="broke off"):
            client.run("print(1, flush=True)\nwhile True: pass", sink=kill)
        mine.end()
        with pytest.raises(EngineUnavailable, match="nobody answers at"):
            client.run("1")


def test_tokens(serve: Callable[..., Service], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who shows a wrong one is not served, also on this machine."""
    mine = serve(prestart=[], tokens=["right-right-right-right-right"])
    monkeypatch.setenv("CODERUNNER_TOKEN", "right-right-right-right-right")
    with Client(mine.url) as client:
        assert client.run("print(1)").stdout == "1\n"
    with Client(mine.url, "wrong") as client, pytest.raises(AccessDenied) as found:
        client.run("1")
    assert "CODERUNNER_TOKEN" in found.value.hint
    with Client(mine.url, token="") as client:
        assert client.health().status in ("ok", "degraded")


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "tökén", "a\0b"])
def test_what_cannot_be_a_token_is_not_shown(token: str) -> None:
    with pytest.raises(InvalidInput) as found:
        Client("http://127.0.0.1:1", token)
    assert token not in str(found.value) + found.value.hint


def test_a_token_is_not_shown() -> None:
    client = Client("http://127.0.0.1:1", "secret-word")
    assert "secret-word" not in repr(client) + repr(vars(client))


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:8000", "ftp://x", "http://", "http://u:p@x", "http://x?y", "http://x:99999", 5],
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(InvalidInput) as found:
        Client(url)
    assert "u:p" not in str(found.value)


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert run(service.url.replace("127.0.0.1", "localhost")) == ""


def test_who_leaves_ends_what_runs(client: Client) -> None:
    """An exception of ours, as Ctrl-C is one."""
    code, box = box_of("left")

    def leave(stream: Stream, data: bytes) -> None:
        assert box.is_there()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client.run(code, sink=leave, limits=Limits(wall_ms=60_000))
    box.wait_until_gone()


@pytest.mark.parametrize("live", [False, True])
async def test_who_is_cancelled_ends_what_runs(service: Service, live: bool) -> None:
    code, box = box_of("cancelled")

    async def ignore(stream: Stream, data: bytes) -> None:
        return

    async with AsyncClient(service.url) as client:
        running = asyncio.create_task(
            client.run(code, sink=ignore if live else None, limits=Limits(wall_ms=60_000))
        )
        deadline = time.monotonic() + 30
        while not await asyncio.to_thread(box.is_there):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.to_thread(box.wait_until_gone)
        assert (await client.run("print(1)")).stdout == "1\n"
