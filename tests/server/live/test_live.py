"""`GET /v1/live`: a program that somebody talks to while it runs."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from coderunner.answers import RunAnswer
from tests.server.conftest import Service
from tests.server.live.talking import closing_code, connected, talking
from tests.support import require_toolchain

pytestmark = pytest.mark.integration


def test_a_conversation(live: Service) -> None:
    code = "while name := input('who? '):\n  print('hello', name, flush=True)"
    with talking(live, code) as talk:
        for name in ("anna", "béla"):
            talk.type(f"{name}\n")
            talk.until_printed(f"hello {name}")
        talk.type("\n")
        result = talk.result()
    assert (result["ok"], talk.kinds()[:2]) == (True, ["queued", "started"])
    assert result["execution"]["stdout"]["text"] == talk.printed()
    RunAnswer.model_validate(result)


def test_binary_messages_are_input_too(live: Service) -> None:
    code = "import sys; print(sys.stdin.buffer.read())"
    with talking(live, code, stdin="first ") as talk:
        talk.type("then ")
        talk.socket.send(b"\x00\xff")
        talk.say("eof")
        assert talk.result()["ok"]
    assert talk.printed() == "b'first then \\x00\\xff'\n"


def test_streams_and_characters_come_apart_and_whole(live: Service) -> None:
    code = """
import os, time
for byte in "é😀".encode():
    os.write(1, bytes([byte])); time.sleep(0.01)
os.write(2, b"\\xff!")
"""
    with talking(live, code) as talk:
        talk.result()
    assert (talk.printed(), talk.printed("stderr")) == ("é😀", "\ufffd!")


def test_a_compiled_program(live: Service) -> None:
    require_toolchain("c")
    with connected(live) as talk:
        files = [
            {"name": "main.c", "text": '#include "n.h"\nint main(void) { return N; }'},
            {"name": "n.h", "text": "#define N 7"},
        ]
        talk.socket.send(json.dumps({"language": "c", "files": files}))
        assert talk.result()["exit_code"] == 7
    assert talk.kinds() == ["queued", "compiled", "started", "end"]
    with connected(live) as talk:
        talk.socket.send(json.dumps({"language": "c", "code": "oops"}))
        assert talk.result()["execution"] is None
        assert closing_code(talk) == 1000


SIGNALS = {"TERM": ("signal", 15), "INT": ("signal", 2), "KILL": ("killed", 9)}


@pytest.mark.parametrize("name", SIGNALS)
def test_signals(live: Service, name: str) -> None:
    code = "import signal, time; signal.signal(2, signal.SIG_DFL); print('up', flush=True)"
    with talking(live, f"{code}; time.sleep(60)") as talk:
        talk.until_printed("up")
        talk.say("signal", name=name)
        execution = talk.result()["execution"]
    assert (execution["ended_by"], execution["signal"]) == SIGNALS[name]


def test_a_program_that_answers_signals(live: Service) -> None:
    code = """
import os, signal
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"one"))
print("up", flush=True)
input()
"""
    with talking(live, code) as talk:
        talk.until_printed("up")
        talk.say("signal", name="USR1")
        talk.until_printed("one")
        talk.type("\n")
        assert talk.result()["ok"]


def test_killed_before_it_has_started(live: Service) -> None:
    with talking(live, "while True: pass") as talk:
        talk.say("signal", name="KILL")
        assert talk.result()["execution"]["ended_by"] == "killed"


def test_limits(live: Service) -> None:
    with talking(live, "while True: pass", limits={"wall_ms": 300}) as talk:
        assert talk.result()["execution"]["ended_by"] == "wall_time"
    with talking(live, "while True: pass", limits={"cpu_ms": 200}) as talk:
        assert talk.result()["execution"]["ended_by"] == "cpu_time"


def test_other_pages_are_foreign(live: Service) -> None:
    for origin, status in {"http://evil.example": 403, "null": 403}.items():
        with (
            pytest.raises(InvalidStatus) as refused,
            connected(live, additional_headers={"Origin": origin}),
        ):
            pass
        assert refused.value.response.status_code == status
    for origin in ("http://localhost:3000", f"http://127.0.0.1:{live.port}"):
        with connected(live, additional_headers={"Origin": origin}):
            pass


def test_a_foreign_name(live: Service) -> None:
    headers = {"Host": "evil.example"}
    with pytest.raises(InvalidStatus) as refused, connected(live, additional_headers=headers):
        pass
    assert refused.value.response.status_code in (400, 421)


def test_a_token_beside_the_subprotocol(live: Service) -> None:
    """Pages cannot send headers of their own."""
    with connected(live, subprotocols=["coderunner", "bearer.anna"]) as talk:
        assert talk.socket.subprotocol == "coderunner"
    with connected(live, subprotocols=["bearer.anna"]) as talk:
        assert talk.socket.subprotocol is None
    with (
        pytest.raises(InvalidStatus) as refused,
        connected(live, subprotocols=["coderunner", "bearer.nobody"]),
    ):
        pass
    assert refused.value.response.status_code == 401


PROGRAMS: dict[str, tuple[Any, int, str]] = {
    "no JSON": ("{", 1007, "not JSON"),
    "bytes": (b"{}", 1008, "the first message is the program"),
    "nothing": ({}, 1008, "language: Field required"),
    "no object": ([1], 1008, "the message"),
    "null": ({"language": "python", "code": None}, 1008, "code: Input should be"),
    "unknown field": ({"language": "python", "code": "", "image": "x"}, 1008, "image: Extra"),
    "no language": ({"language": "cobol", "code": ""}, 1008, "no language is called"),
    "a name": (
        {"language": "python", "files": [{"name": "../x.py", "text": ""}]},
        1008,
        "../x.py",
    ),
    "too long": (
        {"language": "python", "code": "", "limits": {"wall_ms": 600_001}},
        1008,
        "limits.wall_ms=600001 is above",
    ),
    "no terminal": (
        {"language": "python", "code": "", "terminal": {"rows": 0}},
        1008,
        "terminal.rows",
    ),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_cannot_be_run(live: Service, what: str) -> None:
    first, code, said = PROGRAMS[what]
    with connected(live) as talk:
        talk.socket.send(first if isinstance(first, str | bytes) else json.dumps(first))
        problem = talk.hear()["problem"]
        assert said in problem["detail"]
        assert closing_code(talk) == code


MESSAGES: dict[str, tuple[Any, int]] = {
    "no JSON": ("}", 1007),
    "no object": ("3", 1008),
    "no such type": ({"type": "exec"}, 1008),
    "no text": ({"type": "stdin", "data": 5}, 1008),
    "no such signal": ({"type": "signal", "name": "STOP"}, 1008),
    "a size without a terminal": ({"type": "resize", "rows": 5, "columns": 5}, 1008),
    "deep": ("[" * 100_000, 1007),
    "half a character": ('{"type": "stdin", "data": "\\ud800"}', 1007),
}


@pytest.mark.parametrize("what", MESSAGES)
def test_what_cannot_be_understood_ends_it(live: Service, what: str) -> None:
    message, code = MESSAGES[what]
    with talking(live, "print('up', flush=True); input()") as talk:
        talk.until_printed("up")
        talk.socket.send(message if isinstance(message, str) else json.dumps(message))
        assert talk.until("error")["problem"]["detail"]
        assert closing_code(talk) == code


def test_what_is_no_websocket(live: Service) -> None:
    assert httpx.get(f"{live.url}/v1/live").status_code == 404
