"""`coderunner run --tty`, driven from a terminal as a person would."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import termios
import time
from collections.abc import Iterator

import pytest

from coderunner.terminals import set_size
from tests.cli.console import COMMAND, TIMEOUT_S, coderunner, environment
from tests.support import require_sandbox

pytestmark = [pytest.mark.cli, pytest.mark.engines]

# Says what it finds; then what it reads, until the end.
ECHO = """
import os
print(os.get_terminal_size(), os.environ["TERM"])
while True:
    try: print("read", input("> "), os.get_terminal_size())
    except KeyboardInterrupt: print("interrupted")
    except EOFError: break
raise SystemExit(3)
"""


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


class Screen:
    """A terminal with `coderunner run --tty` in it."""

    def __init__(self, *args: str) -> None:
        self.fd, self._theirs = pty.openpty()
        os.set_blocking(self.fd, False)
        set_size(self.fd, 33, 77)
        self.modes = self.modes_now()
        self.process = subprocess.Popen(
            [*COMMAND, "run", "--tty", *args],
            stdin=self._theirs, stdout=self._theirs, stderr=self._theirs,
            env=environment(TERM="vt220"), start_new_session=True,
        )  # fmt: skip
        self._shown = b""

    def modes_now(self) -> list[object]:
        return list(termios.tcgetattr(self._theirs))

    def shows(self, text: bytes) -> bool:
        with contextlib.suppress(BlockingIOError):
            self._shown += os.read(self.fd, 4096)
        return text in self._shown

    def until(self, text: bytes) -> bytes:
        deadline = time.monotonic() + TIMEOUT_S
        while not self.shows(text):
            assert time.monotonic() < deadline, self._shown
            time.sleep(0.01)
        before, found, self._shown = self._shown.partition(text)
        return before + found

    def type(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def insist(self, keys: bytes, text: bytes) -> None:
        """Type this again and again: Python does not notice a ^C that comes between its prompt and
        its read, and nobody knows when a new size has come through."""
        deadline = time.monotonic() + TIMEOUT_S
        while not self.shows(text):
            assert time.monotonic() < deadline, self._shown
            self.type(keys)
            time.sleep(0.2)
        self.until(text)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for fd in (self.fd, self._theirs):
            os.close(fd)


@contextlib.contextmanager
def screen(*args: str) -> Iterator[Screen]:
    shown = Screen(*args)
    try:
        yield shown
    finally:
        shown.close()


def test_a_conversation() -> None:
    with screen("-l", "python", "-c", ECHO) as terminal:
        terminal.until(b"columns=77, lines=33) vt220\r\n> ")
        assert terminal.modes_now() != terminal.modes  # every key is the program's
        terminal.type(b"one\r")
        terminal.until(b"one\r\nread one os.terminal_size")
        terminal.until(b"> ")
        terminal.insist(b"\x03", b"interrupted\r\n> ")
        set_size(terminal.fd, 10, 20)
        os.kill(terminal.process.pid, signal.SIGWINCH)  # as if this terminal had control of it
        terminal.insist(b"x\r", b"read x os.terminal_size(columns=20, lines=10)")
        terminal.type(b"\x04")
        terminal.until(b"exit code 3")
        assert terminal.process.wait(TIMEOUT_S) == 3
        assert terminal.modes_now() == terminal.modes


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=str
)
def test_whatever_ends_us_the_terminal_is_as_it_was(number: signal.Signals) -> None:
    with screen("-l", "bash", "-c", "stty raw -echo; echo up; sleep 60") as terminal:
        terminal.until(b"up")
        assert terminal.modes_now() != terminal.modes
        terminal.process.send_signal(number)
        code = -number if number == signal.SIGQUIT else 128 + number
        assert terminal.process.wait(TIMEOUT_S) == code
        assert terminal.modes_now() == terminal.modes


@pytest.mark.parametrize(
    ("source", "code"), [("sleep 60", 124), ("kill -9 $$", 137), ("exec /no/such", 127)]
)
def test_whatever_ends_the_program_too(source: str, code: int) -> None:
    with screen("--time", "1s", "-l", "bash", "-c", source) as terminal:
        assert terminal.process.wait(TIMEOUT_S) == code
        assert terminal.modes_now() == terminal.modes


def test_what_cannot_run_leaves_the_terminal_alone() -> None:
    with screen("--engine", "process", "--isolation", "none", "-l", "bash", "-c", ":") as terminal:
        assert terminal.process.wait(TIMEOUT_S) == 3
        terminal.until(b"the process engine has no terminals")
        assert terminal.modes_now() == terminal.modes


def test_keys_may_come_from_a_pipe() -> None:
    done = coderunner("run", "--tty", "-l", "python", "-c", ECHO, stdin=b"one\n")
    assert done.returncode == 3
    assert b"columns=80, lines=24) xterm\r\n" in done.stdout
    assert b"read one" in done.stdout


def test_a_terminal_needs_somebody_to_talk_to() -> None:
    for args in (("--json", "-c", ":"), ("-",)):
        done = coderunner("run", "--tty", "-l", "bash", *args)
        assert (done.returncode, b"hint" in done.stdout + done.stderr) == (2, True)
