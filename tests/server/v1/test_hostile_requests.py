"""Requests that are too long, never end, or mean two things at once: told off, and cheap."""

from __future__ import annotations

import itertools
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Service, ServiceMaker
from tests.server.v1.boxes import box_of
from tests.server.v1.wire import (
    CLOSE,
    HELLO,
    RUN,
    Answer,
    answers,
    receive,
    run_body,
    send,
    send_one,
    sized,
)

pytestmark = [pytest.mark.integration, pytest.mark.hostile]

MB = 1024 * 1024
_ROOM_MB = 60  # what the memory of a service may move about


@pytest.fixture
def small(serve: ServiceMaker) -> Service:
    return serve(prestart=[], v1_body_kb=64, body_seconds=1, client_rate=10_000)


@pytest.fixture(autouse=True)
def unharmed(v1: Service) -> Iterator[None]:
    """It goes on serving afterwards, and has not grown."""
    before = memory_mb(v1)
    yield
    assert run_body(v1, HELLO).json()["execution"]["stdout"]["text"] == "hello\n"
    assert memory_mb(v1) - before < _ROOM_MB


def memory_mb(service: Service) -> float:
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def is_problem(answer: Answer, status: int) -> bool:
    return answer.status == status and answer.json()["status"] == status


@pytest.mark.parametrize("expecting", [b"", b"Expect: 100-continue\r\n"])
def test_ten_gigabytes_are_refused_unread(v1: Service, expecting: bytes) -> None:
    head = RUN + expecting + b"Content-Length: %d\r\n\r\n" % (10 * 1024 * MB)
    assert is_problem(send_one(v1, head), 413)


def test_a_body_that_is_waited_for_is_asked_for(v1: Service) -> None:
    asked, answer = send(v1, RUN + CLOSE + b"Expect: 100-continue\r\n" + sized(HELLO))
    assert (asked.status, answer.status) == (100, 200)


def test_a_length_of_many_digits_is_long(v1: Service) -> None:
    (answer,) = send(v1, RUN + b"Content-Length: %b\r\n\r\n" % (b"9" * 18))
    assert is_problem(answer, 413)
    assert send_one(v1, RUN + b"Content-Length: %b\r\n\r\n" % (b"9" * 400)).status == 400


def test_endless_chunks_of_one_byte_have_an_end(small: Service) -> None:
    head = RUN + b"Transfer-Encoding: chunked\r\n\r\n"
    (answer,) = answers(receive(small, (head, *itertools.repeat(b"1\r\n \r\n" * 1000, 1000))))
    assert is_problem(answer, 413)


def test_a_body_that_does_not_come_is_not_waited_for(small: Service) -> None:
    assert is_problem(send_one(small, RUN + b"Content-Length: 100\r\n\r\nx"), 408)
    assert is_problem(send_one(small, RUN + b"Transfer-Encoding: chunked\r\n\r\n"), 408)


def test_a_head_that_does_not_come_is_not_waited_for(small: Service) -> None:
    assert receive(small, [b"POST /v1/run HT"]) == b""
    assert receive(small, [b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /"]) != b""


FLOODS = {
    "a header": (RUN + b"X: ", b"a" * MB),
    "headers": (RUN, b"X: a\r\n" * 100_000),
    "a line": (b"GET /", b"a" * MB),
    "empty lines": (b"", b"\r\n" * MB),
    "trailers": (RUN + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: a\r\n" * 100_000),
    "a trailer": (RUN + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"a" * MB),
    "an extension": (RUN + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a" * MB),
}


@pytest.mark.parametrize("begins", FLOODS)
def test_what_is_no_body_has_an_end(v1: Service, begins: str) -> None:
    """Two hundred megabytes of it, of which next to nothing is heard."""
    start, more = FLOODS[begins]
    sent = 0

    def parts() -> Iterator[bytes]:
        nonlocal sent
        yield start
        for _ in range(200):
            yield more
            sent += len(more)

    got = answers(receive(v1, parts()))
    assert sent < 50 * MB
    assert not got or got[0].status in (400, 431)


TWO_MEANINGS = {
    "length and chunks": b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n",
    "two lengths": b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "less than nothing": b"Content-Length: -5\r\n\r\nhello",
    "a length of letters": b"Content-Length: five\r\n\r\nhello",
    "chunks of another kind": b"Transfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "a chunk of letters": b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "a space in a name": b"Content-Length : 5\r\n\r\nhello",
    "a folded line": b"X: a\r\n b\r\nContent-Length: -1\r\n\r\n",
    "a NUL": b"X: a\0b\r\nContent-Length: 5\r\n\r\nhello",
    "two types": b"Content-Type: text/plain\r\n" + sized(HELLO),
    "two hosts": b"Host: example.com\r\n" + sized(HELLO),
}


@pytest.mark.parametrize("name", TWO_MEANINGS)
def test_what_means_two_things_is_refused(v1: Service, name: str) -> None:
    found = send(v1, RUN + CLOSE + TWO_MEANINGS[name])
    assert found, "closed without a word"
    assert 400 <= found[0].status < 500


def test_requests_in_one_go_are_answered_in_turn(v1: Service) -> None:
    bodies = [HELLO.replace(b"hello", str(n).encode()) for n in range(3)]
    sent = b"".join(RUN + sized(body) for body in bodies[:2]) + RUN + CLOSE + sized(bodies[2])
    said = [one.json()["execution"]["stdout"]["text"] for one in send(v1, sent)]
    assert said == ["0\n", "1\n", "2\n"]


NOT_JSON: dict[str, bytes] = {
    "space": b" " * 1000,
    "half": HELLO[:-1],
    "twice": HELLO + HELLO,
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"limits":' * 100_000,
    "deep in a field": b'{"language": "python", "code": "", "limits": ' + b"[" * 5000 + b"]" * 5000,
    "an integer of 100,000 digits": b'{"limits": {"wall_ms": ' + b"9" * 100_000 + b"}}",
    "NaN": HELLO[:-1] + b', "limits": {"cpus": NaN}}',
    "a comment": b"/**/" + HELLO,
    "a byte order mark": b"\xef\xbb\xbf" + HELLO,
    "UTF-16": HELLO.decode().encode("utf-16"),
    "Latin-1": b'{"language": "python", "code": "\xe9"}',
    "half a character": b'{"language": "python", "code": "\\ud800"}',
    "half a character in a name": b'{"language": "python", "files": [{"name": "\\udcff"}]}',
    "half a character as bytes": b'{"language": "python", "code": "\xed\xa0\x80"}',
    "a raw newline": b'{"language": "python", "code": "a\nb"}',
    "zip": b"\x1f\x8b\x08" + bytes(1000),
}


@pytest.mark.parametrize("name", NOT_JSON)
@pytest.mark.parametrize("route", ["run", "judge"])
def test_what_is_not_json_is_refused(v1: Service, name: str, route: str) -> None:
    head = RUN.replace(b"/run", b"/" + route.encode())
    assert is_problem(send_one(v1, head + CLOSE + sized(NOT_JSON[name])), 400)


@pytest.mark.parametrize("text", ["", "null", "[]", '"a"', "1", "true"])
def test_what_is_no_object_is_refused(v1: Service, text: str) -> None:
    assert is_problem(run_body(v1, text.encode()), 422)


def test_of_a_name_that_comes_twice_the_last_counts(v1: Service) -> None:
    """For the limits, too: what was checked is what is run."""
    twice = HELLO[:-1] + b', "code": "while True: pass", "limits": {"wall_ms": 60000}'
    body = twice + b', "limits": {"wall_ms": 100}}'
    assert run_body(v1, body).json()["execution"]["ended_by"] == "wall_time"
    assert is_problem(run_body(v1, body[:-5] + b"9" * 9 + b"}}"), 422)


MANY: dict[str, dict[str, Any]] = {
    "fields": {f"field{n}": n for n in range(300_000)},
    "wrong arguments": {"language": "python", "code": "", "args": [1] * 1_000_000},
    "wrong files": {"language": "python", "files": [{}] * 1_000_000},
    "wrong tests": {"language": "python", "code": "", "test_cases": [{}] * 1_000_000},
}


@pytest.mark.parametrize("what", MANY)
@pytest.mark.parametrize("route", ["run", "judge"])
def test_a_million_values_are_too_many(v1: Service, what: str, route: str) -> None:
    head = RUN.replace(b"/run", b"/" + route.encode())
    body = json.dumps(MANY[what], separators=(",", ":")).encode()
    assert is_problem(send_one(v1, head + CLOSE + sized(body)), 413)


@pytest.mark.parametrize("what", MANY)
@pytest.mark.parametrize("route", ["run", "judge"])
def test_many_mistakes_are_told_in_few_words(v1: Service, what: str, route: str) -> None:
    few = {name: _first(value, 5000) for name, value in _first(MANY[what], 5000).items()}
    head = RUN.replace(b"/run", b"/" + route.encode())
    answer = send_one(v1, head + CLOSE + sized(json.dumps(few).encode()))
    assert is_problem(answer, 422)
    assert len(answer.body) < 10_000


def _first(value: Any, count: int) -> Any:
    if isinstance(value, dict):
        return dict(itertools.islice(value.items(), count))
    return value[:count] if isinstance(value, list) else value


def test_what_is_no_http_is_closed(v1: Service) -> None:
    assert send_one(v1, b"\x16\x03\x01\x02\x00\x01\x00").status == 400
    assert send_one(v1, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").status >= 400


def test_who_hangs_up_has_the_run_killed(v1: Service) -> None:
    for how in ("close", "reset"):
        code, box = box_of(how)
        connection = socket.create_connection(("127.0.0.1", v1.port), 60)
        body = json.dumps({"language": "python", "code": code, "limits": {"wall_ms": 60_000}})
        connection.sendall(RUN + sized(body.encode()))
        box.wait_until_there()
        if how == "reset":
            linger = (1).to_bytes(4, "little") + bytes(4)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        connection.close()
        box.wait_until_gone()


def test_who_hangs_up_in_the_queue_has_no_run(serve: ServiceMaker) -> None:
    service = serve(prestart=["python"], concurrency=1)
    first, first_box = box_of("first")
    second, second_box = box_of("second")
    holding = threading.Thread(
        target=service.client.post,
        args=("/v1/run",),
        kwargs={"json": {"language": "python", "code": first, "limits": {"wall_ms": 3000}}},
    )
    holding.start()
    first_box.wait_until_there()
    with socket.create_connection(("127.0.0.1", service.port), 60) as connection:
        body = json.dumps({"language": "python", "code": second})
        connection.sendall(RUN + sized(body.encode()))
        while "coderunner_queue_now 1.0" not in service.client.get("/metrics").text:
            pass
    while "coderunner_queue_now 0.0" not in service.client.get("/metrics").text:
        pass
    assert first_box.is_there()
    holding.join()
    assert not second_box.is_there()
