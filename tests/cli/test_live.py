"""`coderunner run` while it runs: streaming, signals, terminals."""

from __future__ import annotations

import contextlib
import glob
import os
import pty
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.console import COMMAND, TIMEOUT_S, environment, start
from tests.support import require_sandbox

pytestmark = [pytest.mark.cli, pytest.mark.engines]

PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
SLEEPER = "import sys, time; print('up', flush=True); time.sleep(60)"


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


@contextlib.contextmanager
def started(*args: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    with start("run", *args, env=env, **PIPES) as process:
        try:
            yield process
        finally:
            process.kill()


def children(pid: int) -> set[int]:
    found: set[int] = set()
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(OSError):
            found.update(map(int, Path(path).read_text().split()))
    return found


def processes_with(token: str) -> list[str]:
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if token.encode() in Path(path).read_bytes():
                found.append(path)
    return found


def test_it_is_a_conversation() -> None:
    """Each side waits for the other: nothing is held back in either direction."""
    talk = "while (word := input()) != 'bye': print(word.upper(), flush=True)"
    with started("-l", "python", "-c", talk) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for word in (b"one\n", b"two\n"):
            process.stdin.write(word)
            process.stdin.flush()
            assert process.stdout.readline() == word.upper()
        process.stdin.write(b"bye\n")
        process.stdin.flush()  # and stdin stays open: it must end nevertheless
        assert process.wait(TIMEOUT_S) == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("engine", ["linux", "process"])
def test_a_signal_ends_everything(
    number: signal.Signals, code: int, engine: str, tmp_path: Path
) -> None:
    token = f"token-{os.getpid()}-{time.monotonic_ns()}"
    args = ("-l", "python", "-c", SLEEPER, token, "--engine", engine, "--isolation", "none")
    with started(*args, env=environment(TMPDIR=str(tmp_path))) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        helpers = children(process.pid)
        assert helpers
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_S)
        assert (process.returncode, out, err) == (code, b"", b"")
    assert processes_with(token) == []
    assert [pid for pid in helpers if os.path.exists(f"/proc/{pid}")] == []
    assert list(tmp_path.iterdir()) == []
    for pid in helpers:
        assert glob.glob(f"/sys/fs/cgroup/**/coderunner-{pid}-*", recursive=True) == []


def test_a_signal_while_the_source_is_still_read(tmp_path: Path) -> None:
    with started("-l", "python", "-", env=environment(TMPDIR=str(tmp_path))) as process:
        # The handler stands once the kernel says that SIGTERM is caught.
        caught = 1 << (signal.SIGTERM - 1)
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline and not _caught_signals(process.pid) & caught:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 143
    assert list(tmp_path.iterdir()) == []


def _caught_signals(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))


def test_stdout_that_somebody_made_non_blocking() -> None:
    """As a parent written in Node leaves it: a full pipe answers EAGAIN and not at all."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    size = 1 << 20
    code = f"import sys; sys.stdout.write('x' * {size})"
    with subprocess.Popen(
        [*COMMAND, "run", "-l", "python", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=writer,
        env=environment(),
    ) as process:
        os.close(writer)
        with open(reader, "rb") as pipe:
            assert len(pipe.read()) == size
        assert process.wait(TIMEOUT_S) == 0


def on_terminal(*args: str, **variables: str) -> tuple[str, int]:
    """Run with a terminal for everything; what it shows, and the exit code."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [*COMMAND, *args], stdin=theirs, stdout=theirs, stderr=theirs,
            env=environment(**variables), start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        shown = bytearray()
        reader = threading.Thread(target=_read_all, args=(ours, shown))
        reader.start()
        code = process.wait(TIMEOUT_S)
        reader.join(TIMEOUT_S)
    finally:
        os.close(ours)
    return shown.decode(), code


def _read_all(fd: int, into: bytearray) -> None:
    with contextlib.suppress(OSError):  # EIO: the other side is gone
        while chunk := os.read(fd, 65536):
            into += chunk


def test_a_terminal_gets_the_status_line_and_colour() -> None:
    shown, code = on_terminal("run", "-l", "bash", "-c", "printf half")
    assert code == 0
    assert shown.startswith("half\r\n")
    assert "exit code 0" in shown
    assert "\x1b[" in shown


def test_no_color_is_honoured() -> None:
    shown, _ = on_terminal("run", "-l", "bash", "-c", "kill -9 $$", NO_COLOR="1")
    assert "error: the program was ended by signal 9 (SIGKILL)" in shown
    assert "\x1b" not in shown


def test_quiet_on_a_terminal() -> None:
    assert on_terminal("run", "-q", "-l", "bash", "-c", "echo hi") == ("hi\r\n", 0)
