"""Clients that do not behave. Whatever they do, no run outlives them and nobody else notices."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.server.conftest import Service, ServiceMaker
from tests.server.live import raw
from tests.server.live.talking import closing_code, connected, talking
from tests.server.v1.boxes import box_of, runs_of, wait_for_runs

pytestmark = [pytest.mark.integration, pytest.mark.hostile]

PATIENCE_S = 30.0


def now(service: Service, what: str) -> float:
    lines = service.client.get("/metrics").text.splitlines()
    return float(
        next(line for line in lines if line.startswith(f"coderunner_{what}_now ")).split()[1]
    )


def wait_for_none(service: Service, *what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while any(now(service, each) for each in what):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.fixture(autouse=True)
def nothing_remains(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "live" in request.fixturenames:
        service: Service = request.getfixturevalue("live")
        wait_for_none(service, "live", "sockets")
        assert service.execute("print(1)").json()["stdout"] == "1\n"


# --- clients that leave ---------------------------------------------------------------------------


def test_who_hangs_up_has_the_run_killed(live: Service) -> None:
    code, box = box_of("hung-up")
    with talking(live, code):
        box.wait_until_there()
    box.wait_until_gone()


def test_who_vanishes_has_the_run_killed(live: Service) -> None:
    """Without a word, as a program that is killed."""
    code, box = box_of("vanished")
    with contextlib.closing(raw.shaken_hands(live.port)) as connection:
        connection.sendall(raw.program(code))
        box.wait_until_there()
    box.wait_until_gone()


def test_who_vanishes_with_a_lot_unsaid(live: Service) -> None:
    """There are more messages on their way than are read in one go."""
    code, box = box_of("unsaid")
    with contextlib.closing(raw.shaken_hands(live.port)) as connection:
        connection.sendall(raw.program(code))
        box.wait_until_there()
        connection.sendall(raw.frame(raw.BINARY, b"x" * 1000) * 500)
    box.wait_until_gone()


def test_who_does_not_answer_is_dead(serve: ServiceMaker) -> None:
    service = serve(prestart=[], ping_seconds=0.3)
    code, box = box_of("half-open")
    with contextlib.closing(raw.shaken_hands(service.port)) as connection:
        connection.sendall(raw.program(code))
        box.wait_until_there()
        box.wait_until_gone()
        wait_for_none(service, "live", "sockets")


def test_who_says_nothing_is_not_waited_for(serve: ServiceMaker) -> None:
    service = serve(prestart=[], body_seconds=0.3)
    with connected(service) as talk:
        assert talk.until("error")["problem"]["status"] == 408
        assert closing_code(talk) == 1008


# --- clients that do not read ---------------------------------------------------------------------

FLOOD = """
import sys
for n in range(200):
    sys.stdout.write("x" * 49_999 + "\\n")
print("last")
"""


def test_who_does_not_read_does_not_hold_a_box(serve: ServiceMaker) -> None:
    service = serve(prestart=[], stream_kb=64, ping_seconds=0.5)
    with contextlib.closing(raw.shaken_hands(service.port, receive_buffer=4096)) as connection:
        connection.sendall(raw.program(FLOOD))
        while (
            service.client.get("/metrics").text.count('coderunner_runs_total{ended_by="exit"') < 1
        ):
            time.sleep(0.05)
        wait_for_none(service, "live")
        wait_for_none(service, "sockets")


def test_who_reads_late_is_told_what_he_missed(live: Service) -> None:
    before = runs_of(live)
    connection = raw.shaken_hands(live.port, receive_buffer=4096)
    with contextlib.closing(connection):
        connection.sendall(raw.program(FLOOD))
        wait_for_runs(live, before + 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        data = b""
        while b'"type":"end"' not in data:
            data += connection.recv(1 << 20)
    assert data.index(b'"type":"dropped","stream":"stdout","bytes":') < data.index(b'"type":"end"')


def test_a_flood_of_pings_from_who_does_not_read(live: Service) -> None:
    """Pongs for nobody do not pile up."""
    before = memory_kb(live)
    with contextlib.closing(raw.shaken_hands(live.port, receive_buffer=4096)) as connection:
        pings = raw.frame(raw.PING, b"x" * 125) * 1000
        for _ in range(300):  # 40 MB
            connection.sendall(pings)
        assert memory_kb(live) - before < 20_000


def memory_kb(service: Service) -> int:
    with open(f"/proc/{service.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


# --- what they send -------------------------------------------------------------------------------


def test_ten_thousand_messages_at_once(live: Service) -> None:
    code = "import sys; print(sum(map(int, sys.stdin)))"
    line = raw.frame(raw.TEXT, json.dumps({"type": "stdin", "data": "1\n"}).encode())
    end = raw.frame(raw.TEXT, b'{"type": "eof"}')
    with contextlib.closing(raw.shaken_hands(live.port)) as connection:
        connection.sendall(raw.program(code) + line * 10_000 + end)
        data = b""
        while b'"type":"end"' not in data:
            data += connection.recv(65536)
    assert b'"data":"10000\\n"' in data


def test_input_waits_for_its_program(live: Service) -> None:
    code = "import sys, time; time.sleep(0.5); print(len(sys.stdin.buffer.read()))"
    with talking(live, code) as talk:
        for _ in range(8):
            talk.socket.send(b"x" * 1_000_000)
        talk.say("eof")
        assert talk.result()["ok"]
    assert talk.printed() == "8000000\n"


def test_input_that_nobody_reads_does_not_wait_for_ever(serve: ServiceMaker) -> None:
    service = serve(prestart=[], input_seconds=0.3)
    code, box = box_of("not-reading")
    with talking(service, code) as talk:
        talk.until_printed("running")
        for _ in range(4):
            talk.socket.send(b"x" * 1_000_000)
        assert "does not read" in talk.until("error")["problem"]["detail"]
        assert closing_code(talk) == 1008
    assert not box.is_there()


def test_a_flood_of_signals_and_sizes(live: Service) -> None:
    code = "import signal; signal.signal(10, lambda *_: None); print('up'); input()"
    with talking(live, code, terminal={}) as talk:
        talk.until_printed("up")
        for n in range(100):
            talk.say("signal", name="USR1")
            talk.say("resize", rows=n + 1, columns=n + 1)
        talk.type("\r")
        assert talk.result()["ok"]


def test_a_message_that_is_too_long(live: Service) -> None:
    code, box = box_of("too-long")
    with talking(live, code) as talk:
        talk.until_printed("running")
        with contextlib.suppress(ConnectionClosed):
            talk.socket.send(b"x" * (1024 * 1024 + 1))
        assert closing_code(talk) == 1009
    box.wait_until_gone()


GARBAGE = {
    "noise": (b"\xff\x00\xaa" * 100, 1002),
    "a frame of four exabytes": (raw.head_of_a_frame_of(1 << 62), 1009),
    "compressed, which was not agreed": (raw.frame(raw.TEXT, b"{}", flags=0x40), 1002),
    "not UTF-8": (raw.frame(raw.TEXT, b'{"type": "\xff"}'), 1007),
    "a fragment of nothing": (raw.frame(0, b"x"), 1002),
    "a ping that is too long": (raw.frame(raw.PING, b"x" * 200), 1002),
    "not masked": (bytes([0x81, 2]) + b"{}", 1002),
    "endless parts": (
        raw.frame(raw.TEXT, b"x", fin=False) + raw.frame(0, fin=False) * 2000,
        1008,
    ),
    "too much in parts": (
        raw.frame(raw.TEXT, b"x" * 600_000, fin=False) + raw.frame(0, b"x" * 600_000),
        1009,
    ),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_what_is_no_message(live: Service, what: str) -> None:
    data, code = GARBAGE[what]
    stays, box = box_of("garbage")
    with contextlib.closing(raw.shaken_hands(live.port)) as connection:
        connection.sendall(raw.program(stays))
        box.wait_until_there()
        connection.sendall(data)
        assert raw.until_closed(connection) == code
    box.wait_until_gone()


# --- how many -------------------------------------------------------------------------------------


def test_so_many_and_no_more(serve: ServiceMaker) -> None:
    service = serve(prestart=[], sockets=3, client_sockets=2, tokens=["anna"])
    as_anna = {"additional_headers": {"Authorization": "Bearer anna"}}
    with connected(service), connected(service):
        assert refused(service) == 429
        with connected(service, **as_anna):
            assert refused(service, **as_anna) == 503
    wait_for_none(service, "sockets")
    with connected(service):
        pass


def refused(service: Service, **how: object) -> int:
    with pytest.raises(InvalidStatus) as found, connected(service, **how):
        pass
    assert "Retry-After" in found.value.response.headers
    return found.value.response.status_code


def test_who_only_waits_takes_no_turn_of_those_who_work(serve: ServiceMaker) -> None:
    service = serve(prestart=[], concurrency=1, live=2, queue=0)
    code = "print('up', flush=True); input()"
    with talking(service, code) as one, talking(service, code) as two:
        one.until_printed("up")
        two.until_printed("up")
        assert service.execute("print(1)").json()["stdout"] == "1\n"
        with talking(service, code) as three:
            assert three.until("error")["problem"]["status"] == 503
            assert closing_code(three) == 1013
