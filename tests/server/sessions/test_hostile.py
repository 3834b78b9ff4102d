"""Cells that mean no good, and clients that do not behave."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.server.conftest import Service, ServiceMaker
from tests.server.sessions.opened import SLEEP, Opened, opened, until
from tests.server.v1.boxes import box_of

pytestmark = [pytest.mark.integration, pytest.mark.hostile]

DEADLY = {
    "exits": ("import os; os._exit(3)", "exited with code 3"),
    "kills itself": ("import os; os.kill(os.getpid(), 9)", "died of signal 9"),
    "takes all memory": ("x = [bytearray(10 << 20) for _ in range(1000)]", "memory limit of 512"),
}


@pytest.mark.parametrize("what", DEADLY)
def test_a_cell_that_kills_its_kernel(session: Opened, what: str) -> None:
    code, said = DEADLY[what]
    result = session.run(code)
    assert (result["success"], result["alive"]) == (False, False)
    assert said in result["error"]["message"]
    assert session.state() == "dead"
    assert session.run("1")["error"] == result["error"]
    assert session.post("restart").json()["state"] == "idle"
    assert session.works()


def test_a_kernel_that_is_killed_between_cells(session: Opened) -> None:
    code = "import os, threading; threading.Timer(0.1, lambda: os.kill(os.getpid(), 9)).start()"
    assert session.run(code)["success"]
    while session.state() != "dead":
        time.sleep(0.02)
    assert session.run("1")["alive"] is False


def test_a_cell_that_never_ends_is_interrupted(session: Opened) -> None:
    with session.asleep() as coming:
        assert session.state() == "busy"
        assert session.post("interrupt").status_code == 204
        result = until(coming, "end")["result"]
    assert result["error"]["name"] == "KeyboardInterrupt"
    assert session.works()


def test_to_interrupt_what_does_not_run_is_nothing(session: Opened) -> None:
    assert session.post("interrupt").status_code == 204
    assert session.works()


def test_a_cell_that_never_ends_runs_into_its_limit(client: httpx.Client) -> None:
    with opened(client, limits={"wall_ms": 500}) as session:
        result = session.run(SLEEP)
        assert (result["error"]["type"], result["alive"]) == ("timeout", True)
        assert session.works()


def test_one_cell_after_the_other(session: Opened) -> None:
    with session.asleep() as coming:
        refused = session.ask("1")
        assert (refused.status_code, refused.headers["Retry-After"]) == (409, "1")
        assert "running a cell" in refused.json()["detail"]
        with pytest.raises(AssertionError, match="session-busy"), session.follow("1"):
            pass
        session.post("interrupt")
        until(coming, "end")
    assert session.works()


def test_a_flood_of_cells(session: Opened) -> None:
    """Each is run or refused, and none is run beside another."""
    session.run("running = most = count = 0")
    code = """
running += 1; most = max(most, running); count += 1
import time; time.sleep(0.02)
running -= 1
"""
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: session.ask(code), range(100)))
    ran = [answer for answer in answers if answer.status_code == 200]
    refused = [answer for answer in answers if answer.status_code in (409, 429, 503)]
    assert (len(ran) + len(refused), bool(ran), bool(refused)) == (100, True, True)
    assert session.run("most, count")["value"]["text"] == f"(1, {len(ran)})"


@pytest.mark.parametrize("live", [False, True])
def test_who_hangs_up_interrupts_the_cell(session: Opened, live: bool) -> None:
    """And the session stays."""
    session.run("ended = []")
    code = f"try:\n  {SLEEP.splitlines()[1]}\n  time.sleep(600)\nexcept KeyboardInterrupt:\n"
    code += "  ended.append('interrupted')"
    if live:
        with session.follow(code) as coming:
            until(coming, "started")
            time.sleep(0.2)
    else:
        with pytest.raises(httpx.ReadTimeout):
            session.post("cells", json={"code": code}, timeout=0.5)
    while session.state() == "busy":
        time.sleep(0.02)
    assert session.run("ended")["value"]["text"] == "['interrupted']"


def test_a_session_that_ends_ends_its_cell(client: httpx.Client) -> None:
    code, box = box_of("ended-session")
    with opened(client) as session, session.follow(code) as coming:
        until(coming, "stdout")
        box.wait_until_there()
        assert session.end().status_code == 204
        assert not box.is_there()
        assert until(coming, "end")["result"]["alive"] is False


def test_a_cell_waits_for_its_turn_and_holds_none_when_it_is_over(serve: ServiceMaker) -> None:
    service = serve(prestart=[], concurrency=1, queue=0)
    with opened(service.client) as first, opened(service.client) as second:
        first.run("x = 1")
        assert second.works()
        with first.asleep():
            refused = second.ask("1")
            assert (refused.status_code, "Retry-After" in refused.headers) == (503, True)
        while second.ask("1").status_code == 503:
            time.sleep(0.05)
        assert second.works()


def test_more_than_anybody_reads(session: Opened) -> None:
    result = session.run("print('x' * 10_000_000)")
    assert (result["success"], result["error"]["type"]) == (True, "output_limit")
    assert len(result["stdout"]) < 1_000_000
    assert session.works()


def test_odd_cells(session: Opened) -> None:
    for code in ("\x00", "print('\U0001f600')", "x" * 100_000, ""):
        assert session.ask(code).status_code == 200
    headers = {"Content-Type": "application/json"}
    for body in (b'{"code": "\\ud800"}', b"{", b'{"code": 1}', b"[]", b""):
        answer = session.post("cells", content=body, headers=headers)
        assert answer.status_code in (400, 422), body
    assert session.works()


def test_strange_ids(sessions: Service) -> None:
    for id in ("x" * 5000, "..%2f..%2fetc", "%00", "%F0%9F%98%80"):
        assert sessions.client.get(f"/v1/sessions/{id}").status_code == 404
