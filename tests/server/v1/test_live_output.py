"""`POST /v1/run` with `Accept: text/event-stream`."""

from __future__ import annotations

import json
import socket

import httpx
import pytest

from coderunner.answers import RunAnswer
from tests.server.conftest import Service
from tests.server.v1.boxes import box_of, runs_of, wait_for_runs
from tests.server.v1.streaming import printed, streamed, streaming
from tests.support import require_toolchain

pytestmark = pytest.mark.integration


def test_a_run_is_told_from_its_beginning_to_its_end(client: httpx.Client) -> None:
    told = streamed(client, code="import sys; print('a'); print('b', file=sys.stderr)")
    kinds = [event["type"] for event in told]
    assert kinds[:2] == ["queued", "started"]
    assert sorted(kinds[2:-1]) == ["stderr", "stdout"]
    assert (printed(told), printed(told, "stderr")) == ("a\n", "b\n")
    RunAnswer.model_validate(told[-1]["result"])
    assert told[-1]["result"]["execution"]["stdout"]["text"] == "a\n"


def test_a_compilation_is_told_before_the_program_starts(client: httpx.Client) -> None:
    require_toolchain("c")
    told = streamed(client, language="c", code="int main(void) { return 0; }")
    assert [event["type"] for event in told] == ["queued", "compiled", "started", "end"]
    assert told[1]["compilation"]["exit_code"] == 0
    told = streamed(client, language="c", code="int main(void) { oops }")
    assert [event["type"] for event in told] == ["queued", "compiled", "end"]
    assert told[-1]["result"]["execution"] is None


def test_output_comes_while_the_program_runs(client: httpx.Client) -> None:
    code = "import time; print('now', flush=True); time.sleep(60)"
    with streaming(client, code=code, limits={"wall_ms": 60_000}) as coming:
        assert next(event for event in coming if event["type"] == "stdout")["data"] == "now\n"


def test_a_silent_stream_says_that_it_is_alive(client: httpx.Client) -> None:
    with streaming(client, code="import time; time.sleep(60)") as coming:
        found = [next(coming)["type"] for _ in range(5)]
    assert found.count("comment") >= 3


def test_characters_come_whole(client: httpx.Client) -> None:
    code = """
import os, time
for byte in "aé€😀".encode():
    os.write(1, bytes([byte]))
    time.sleep(0.01)
os.write(1, b"\\xe2\\x82")
"""
    told = streamed(client, code=code)
    assert printed(told) == "aé€😀\ufffd"
    assert all(event["data"] for event in told if event["type"] == "stdout")


def test_lines_of_any_kind_stay_within_one_event(client: httpx.Client) -> None:
    text = "a\r\nb\rc\n\ndata: x\n\u2028\0"
    told = streamed(client, code=f"import sys; sys.stdout.write({text!r})")
    assert printed(told) == text


def test_what_is_refused_at_once_is_refused_with_a_status(client: httpx.Client) -> None:
    headers = {"Accept": "text/event-stream"}
    for asked, status in (
        ({"language": "pyhton", "code": ""}, 404),
        ({"language": "python", "code": "", "limits": {"wall_ms": 0}}, 422),
    ):
        response = client.post("/v1/run", json=asked, headers=headers)
        assert response.status_code == status
        assert response.headers["content-type"] == "application/problem+json"


def test_who_reads_slowly_loses_output_and_not_the_run(v1: Service) -> None:
    """It runs at its own speed, and its end is told with what was lost."""
    code = f"import sys; sys.stdout.write('x' * {20 * 2**20})"
    before = runs_of(v1)
    connection = _asked(v1, code)
    with connection, connection.makefile("rb") as answer:
        wait_for_runs(v1, before + 1)  # and nothing is read until then
        body = answer.read().decode()
    lost = [json.loads(line[6:]) for line in body.split("\n") if line.startswith('data: {"stream"')]
    end = json.loads(body[body.rindex('data: {"result"') + 6 :].split("\n")[0])
    shown = body.count("x") - end["result"]["execution"]["stdout"]["text"].count("x")
    assert end["result"]["ok"]
    assert sum(one["bytes"] for one in lost) > 2**20
    assert abs(shown + sum(one["bytes"] for one in lost) - 20 * 2**20) < 1000


def test_who_leaves_has_its_run_killed(client: httpx.Client, v1: Service) -> None:
    code, box = box_of("stream")
    with streaming(client, code=code, limits={"wall_ms": 60_000}) as coming:
        next(event for event in coming if event["type"] == "stdout")
        assert box.is_there()
    box.wait_until_gone()


def _asked(v1: Service, code: str) -> socket.socket:
    body = json.dumps({"language": "python", "code": code}).encode()
    connection = socket.create_connection(("127.0.0.1", v1.port), timeout=60)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    head = (
        "POST /v1/run HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    return connection
