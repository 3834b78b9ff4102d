"""Sessions over HTTP: what one cell leaves, the next one finds."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from coderunner.notebook import CellResult
from tests.server.conftest import Service, ServiceMaker
from tests.server.sessions.opened import Opened, open_one, opened, until
from tests.server.v1.streaming import printed

pytestmark = pytest.mark.integration


def test_cells_share_an_interpreter(session: Opened) -> None:
    assert session.run("import math\nx = 3")["success"]
    said = session.run("print(x)\nimport sys; print('e', file=sys.stderr)\nmath.sqrt(x + 1)")
    assert (said["stdout"], said["stderr"], said["value"]["text"]) == ("3\n", "e\n", "2.0")
    assert (said["execution_count"], said["error"], said["alive"]) == (2, None, True)


def test_an_answer_is_the_library_s_own_result(session: Opened) -> None:
    image = base64.b64encode(b"\x89PNG\r\n\x1a\nmore").decode()
    code = f"from IPython.display import Image\nimport base64\nImage(base64.b64decode('{image}'))"
    response = session.ask(code)
    assert response.json()["value"]["png"] == image
    result = CellResult.model_validate_json(response.text)
    assert result.images == [b"\x89PNG\r\n\x1a\nmore"]


def test_an_error_of_the_code_is_a_good_answer(session: Opened) -> None:
    error = session.run("1 / 0")["error"]
    assert (error["type"], error["name"]) == ("runtime_error", "ZeroDivisionError")
    assert "----> 1 1 / 0" in error["traceback"]


def test_a_cell_is_told_live(session: Opened) -> None:
    with session.follow("import time\nprint('é')\ntime.sleep(0.3)\nprint('b')\n6 * 7") as coming:
        told = [event for event in coming if event["type"] != "comment"]
    kinds = [event["type"] for event in told]
    assert (kinds[:2], kinds[-1]) == (["queued", "started"], "end")
    assert printed(told) == "é\nb\n"
    assert told[-1]["result"]["value"]["text"] == "42"


def test_what_it_says_of_itself(client: httpx.Client) -> None:
    asked = {"limits": {"wall_ms": 5000, "memory_mb": 300}, "idle_seconds": 90}
    with opened(client, **asked) as session:
        session.run("1")
        said = client.get(session.path).json()
        assert said in client.get("/v1/sessions").json()["sessions"]
    assert re.fullmatch(r"[\w-]{22}", said["id"])  # 128 bits
    assert (said["language"], said["state"], said["cells"]) == ("python", "idle", 1)
    assert (said["limits"]["wall_ms"], said["limits"]["memory_mb"]) == (5000, 300)
    assert said["idle_seconds"] == 90


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "no sessions": ({"language": "bash"}, 422, "there are no sessions of Bash"),
    "no language": ({"language": "cobol"}, 404, "no language is called 'cobol'"),
    "too much": ({"limits": {"memory_mb": 701}}, 422, "limits.memory_mb=701 is above"),
    "nothing": ({"limits": {"wall_ms": 0}}, 422, "limits.wall_ms"),
    "null": ({"limits": {"wall_ms": None}}, 422, "limits.wall_ms"),
    "unknown limit": ({"limits": {"memory": 1}}, 422, "limits.memory"),
    "unknown field": ({"image": "evil"}, 422, "image: Extra inputs"),
    "no time": ({"idle_seconds": 0}, 422, "idle_seconds"),
    "a kernel": ({"language": "ir"}, 404, "no language is called"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_no_session_can_be(client: httpx.Client, what: str) -> None:
    asked, status, said = REFUSED[what]
    response = client.post("/v1/sessions", json=asked)
    assert response.status_code == status
    assert said in response.json()["detail"]
    assert client.get("/v1/sessions").json() == {"sessions": []}


def test_a_session_is_its_client_s_alone(sessions: Service, session: Opened) -> None:
    """Another one cannot tell it from one that there never was."""
    asked: dict[str, Callable[[httpx.Client], httpx.Response]] = {
        "show": lambda c: c.get(session.path),
        "cells": lambda c: c.post(f"{session.path}/cells", json={"code": "1"}),
        "interrupt": lambda c: c.post(f"{session.path}/interrupt"),
        "restart": lambda c: c.post(f"{session.path}/restart"),
        "end": lambda c: c.delete(session.path),
    }
    with httpx.Client(base_url=sessions.url, headers={"Authorization": "Bearer ben"}) as ben:
        assert ben.get("/v1/sessions").json() == {"sessions": []}
        guessed = ben.get("/v1/sessions/AAAAAAAAAAAAAAAAAAAAAA").json()
        for ask in asked.values():
            answer = ask(ben)
            assert (answer.status_code, answer.json()) == (404, guessed)
    assert session.works()


def test_who_has_enough_sessions_gets_no_more(sessions: Service, client: httpx.Client) -> None:
    mine = [open_one(client) for _ in range(3)]
    try:
        refused = client.post("/v1/sessions", json={})
        assert (refused.status_code, "Retry-After" in refused.headers) == (429, True)
        headers = {"Authorization": "Bearer ben"}
        with httpx.Client(base_url=sessions.url, headers=headers, timeout=30) as ben:
            with opened(ben):
                refused = ben.post("/v1/sessions", json={})
                assert (refused.status_code, "Retry-After" in refused.headers) == (503, True)
                assert "coderunner_sessions_now 4.0" in client.get("/metrics").text
            assert mine.pop().end().status_code == 204
            with opened(ben), opened(ben):
                pass
    finally:
        for session in mine:
            session.end()
    assert "coderunner_sessions_now 0.0" in client.get("/metrics").text


def test_what_has_ended_is_gone(client: httpx.Client) -> None:
    with opened(client) as session:
        assert session.end().status_code == 204
        answer = session.ask("1")
        assert answer.status_code == 410
        assert "you have ended it" in answer.json()["detail"]


def test_restart(session: Opened) -> None:
    session.run("x = 1\nopen('note', 'w').close()")
    assert session.post("restart").json()["state"] == "idle"
    assert session.run("x")["error"]["name"] == "NameError"
    assert session.run("import os; os.listdir()")["value"]["text"] == "[]"


def test_a_restart_ends_a_cell_that_runs(session: Opened) -> None:
    with session.asleep() as coming:
        assert session.post("restart").status_code == 200
        result = until(coming, "end")["result"]
    assert (result["success"], result["stdout"]) == (False, "asleep\n")
    assert session.works()


def test_nobody_has_used_it(serve: ServiceMaker) -> None:
    service = serve(prestart=[])
    session = open_one(service.client, idle_seconds=0.5)
    until_metrics(service, "coderunner_sessions_now 0.0")
    answer = session.ask("1")
    assert answer.status_code == 410
    assert "nobody has used it for 0.5 seconds" in answer.json()["detail"]


def test_a_session_that_works_is_not_idle(client: httpx.Client) -> None:
    with opened(client, idle_seconds=0.5) as session:
        assert session.run("import time; time.sleep(1.5)")["success"]


def until_metrics(service: Service, line: str) -> None:
    deadline = time.monotonic() + 30
    while line not in service.client.get("/metrics").text:
        assert time.monotonic() < deadline
        time.sleep(0.05)
