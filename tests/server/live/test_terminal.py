"""A program in a terminal, over a WebSocket."""

from __future__ import annotations

import pytest

from tests.server.conftest import Service
from tests.server.live.talking import talking

pytestmark = pytest.mark.integration
SIZE = {"rows": 30, "columns": 100}


def test_its_size_and_another_one(live: Service) -> None:
    code = """
import os, signal
print(os.isatty(0), os.get_terminal_size(), flush=True)
signal.signal(signal.SIGWINCH, lambda *_: os.write(1, repr(os.get_terminal_size()).encode()))
print("up")
input()
"""
    with talking(live, code, terminal=SIZE) as talk:
        talk.until_printed("True os.terminal_size(columns=100, lines=30)")
        talk.until_printed("up")
        talk.say("resize", rows=11, columns=44)
        talk.until_printed("os.terminal_size(columns=44, lines=11)")
        talk.type("\n")
        assert talk.result()["ok"]


def test_keys_are_for_the_program(live: Service) -> None:
    code = "while True:\n  try: print('got', input('> '))\n  except KeyboardInterrupt: print('^C!')"
    with talking(live, code, terminal={}) as talk:
        talk.until_printed("> ")
        talk.type("hello\r")
        talk.until_printed("got hello")
        talk.type("\x03")
        talk.until_printed("^C!\r\n> ")
        talk.say("signal", name="INT")
        while talk.printed().count("^C!\r\n> ") < 2:
            talk.hear()
        talk.type("\x04")
        result = talk.result()
    assert "EOFError" in result["execution"]["stdout"]["text"]
    assert result["execution"]["stderr"]["text"] == ""


def test_a_size_that_came_early(live: Service) -> None:
    with talking(live, "import os; input(); print(os.get_terminal_size())", terminal=SIZE) as talk:
        talk.say("resize", rows=2, columns=3)
        talk.until("started")
        talk.type("\n")
        assert talk.result()["ok"]
    assert "columns=3, lines=2" in talk.printed()
