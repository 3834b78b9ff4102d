"""Who is told of a session's output while its cells run, in a real box."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator

import pytest

from coderunner import InvalidInput, Stream
from coderunner.notebook import CellResult, Session

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """One for all tests that leave it in order."""
    with Session(timeout=60) as session:
        yield session


def text_of(result: CellResult) -> str | None:
    assert result.error is None, result.error
    return result.value.text if result.value else None


def test_output_comes_live(session: Session) -> None:
    seen: list[tuple[Stream, str]] = []
    two_were_seen = threading.Event()

    def on_output(stream: Stream, text: str) -> None:
        seen.append((stream, text))
        if len(seen) == 2:
            two_were_seen.set()
            session.interrupt()

    code = """
import time, sys
print('a', flush=True)
time.sleep(.2)
print('b', file=sys.stderr, flush=True)
time.sleep(60)
"""
    result = session.execute(code, on_output=on_output)
    assert two_were_seen.is_set()
    assert seen[:2] == [(Stream.STDOUT, "a\n"), (Stream.STDERR, "b\n")]
    assert result.error is not None
    assert result.error.name == "KeyboardInterrupt"
    assert result.alive


def test_a_callback_that_fails(session: Session) -> None:
    def on_output(stream: Stream, text: str) -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        session.execute("print('x', flush=True)\nimport time\ntime.sleep(30)", on_output=on_output)
    assert text_of(session.execute("1")) == "1"


def test_a_callback_that_is_slow_misses_nothing(session: Session) -> None:
    def on_output(stream: Stream, text: str) -> None:
        seen.append(text)
        time.sleep(0.6)

    seen: list[str] = []
    code = "import time\nfor i in range(5):\n    print(i, flush=True)\n    time.sleep(.05)"
    result = session.execute(code, on_output=on_output)
    assert result.error is None
    assert "".join(seen) == result.stdout == "0\n1\n2\n3\n4\n"


def test_a_callback_that_is_too_slow_costs_no_session(session: Session) -> None:
    code = "kept = 1\nprint(1, flush=True)"
    result = session.execute(code, timeout=0.5, on_output=lambda *_: time.sleep(3))
    assert result.error is not None
    assert (result.error.type, result.alive) == ("timeout", True)
    assert text_of(session.execute("kept")) == "1"


@pytest.mark.parametrize("what", ["close", "restart", "execute"])
def test_a_callback_that_would_wait_for_itself(session: Session, what: str) -> None:
    def on_output(stream: Stream, text: str) -> None:
        getattr(session, what)(*(["1"] if what == "execute" else []))

    with pytest.raises(InvalidInput, match="cannot use the session"):
        session.execute("print(1)", on_output=on_output)
    assert text_of(session.execute("1")) == "1"


def test_a_callback_that_exits(session: Session) -> None:
    with pytest.raises(RuntimeError, match="raised SystemExit"):
        session.execute("print(1)", on_output=lambda *_: sys.exit(3))
    assert text_of(session.execute("1")) == "1"
