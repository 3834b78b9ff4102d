"""Code in a container that is somebody else's, by docker-py.

    exec ── python3 (supervised.py) ── python3 -c CODE ── whatever that starts

The container's walls and its limits of memory and cpu are those it was made with. Time is kept
twice: in the container, and here, since code in there may kill what watches it.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from typing import Any

from coderunner import exit_codes
from coderunner.cancelling import outlast
from coderunner.capture import Capture
from coderunner.engines.docker.hijacked import HEADER, STDERR, let_go, socket_of
from coderunner.errors import EngineUnavailable
from coderunner.model import EndedBy, Limits, Output
from coderunner.notebook.conclusion import Facts
from coderunner.notebook.model import ResourceLimits
from coderunner.text import as_bytes

_PYTHONS = ("python3", "python")
_CHUNK = 64 * 1024
_LATE_S = 1.0  # after the time limit, when the watch in the container should have ended it
_GRACE_S = 5.0  # for the rest of its output, once it was ended from outside
_ENVIRONMENT = {"PYTHONUNBUFFERED": "1"}  # or what it had printed is lost with it
_BAD_REQUEST = 400
_NOT_STARTED = (126, 127)
_LAST_WORDS = 200  # bytes, for what supervised.py says at the end


class InContainer:
    """Each piece of code in a process tree of its own, with the same container around all."""

    def __init__(self, container: Any) -> None:
        self._container = container
        self._python = ""

    def __repr__(self) -> str:
        return f"container {getattr(self._container, 'name', self._container)!r}"

    async def run(self, code: str, limits: ResourceLimits) -> Facts:
        source = as_bytes(code, "the code")
        thread = ThreadPoolExecutor(1, thread_name_prefix="coderunner-container")
        run = _Run(self._container, limits)
        loop = asyncio.get_running_loop()
        try:
            working = loop.run_in_executor(thread, self._run, run, source)
            await outlast(working, on_cancel=run.end)
            return working.result()
        finally:
            thread.shutdown(wait=False)

    def _run(self, run: _Run, source: bytes) -> Facts:
        self._python = self._python or self._find_python()
        return run.go(self._python, source)

    def _find_python(self) -> str:
        found = (name for name in _PYTHONS if _succeeds(self._container, [name, "-c", ""]))
        python = next(found, None)
        if python is None:
            raise EngineUnavailable(
                f"no Python can be started in this container ({' or '.join(_PYTHONS)})",
                hint="use an image that has one, such as python:3.11-slim",
            )
        return python


class _Run:
    """One exec, from its start to its end."""

    def __init__(self, container: Any, limits: ResourceLimits) -> None:
        self._container = container
        self._limits = limits
        self._token = secrets.token_hex(16)
        self._why: EndedBy | None = None  # we end it, before it ends itself
        self._stop = threading.Event()  # it is to be ended, or has ended
        self._over = threading.Event()  # nothing more will come of it
        self._python = ""
        self._socket: Any = None

    def go(self, python: str, source: bytes) -> Facts:
        self._python = python
        api = self._container.client.api
        exec_id = self._create("run", stdin=True)
        stream = api.exec_start(exec_id, socket=True)
        self._socket = socket_of(stream)
        self._socket.settimeout(None)
        watch = threading.Thread(target=self._watch, name="coderunner-watch", daemon=True)
        watch.start()
        try:
            self._send(f"{self._limits.timeout_seconds} {len(source)}\n".encode() + source)
            stdout, stderr = self._drain()
        finally:
            self._over.set()
            self._stop.set()
            watch.join()
            let_go(stream)
        stderr, words = _last_words(stderr, self._token)
        code = api.exec_inspect(exec_id)["ExitCode"]
        if not words:  # somebody has killed our part of it, or it could not be started
            _check_start(code, stdout)
            self._end_from_outside()
        return self._facts(code, words, stdout, stderr)

    def end(self, why: EndedBy = EndedBy.KILLED) -> None:
        """From any thread, and without waiting for it."""
        self._why = self._why or why
        self._stop.set()

    def _create(self, what: str, *, stdin: bool = False) -> str:
        made = self._container.client.api.exec_create(
            self._container.id,
            [self._python, "-c", _source(), what, self._token],
            stdin=stdin,
            environment=_ENVIRONMENT,
        )
        return str(made["Id"])

    def _send(self, order: bytes) -> None:
        try:
            self._socket.sendall(order)
        except OSError:
            if self._why is None:
                raise

    def _watch(self) -> None:
        if not self._stop.wait(self._limits.timeout_seconds + _LATE_S):
            self.end(EndedBy.WALL_TIME)
        if self._why is None:
            return
        self._end_from_outside()
        if not self._over.wait(_GRACE_S):
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _end_from_outside(self) -> None:
        # What cannot be reached any more, a container that was stopped, has nothing to be ended.
        with contextlib.suppress(Exception):
            self._container.client.api.exec_start(self._create("end"))

    def _drain(self) -> tuple[Output, Output]:
        most = self._limits.max_output_bytes
        stdout, stderr = Capture(2 * most), Capture(2 * (most + _LAST_WORDS))
        flood = max(Limits().flood_bytes, most)
        for number, chunk in self._chunks():
            capture = stderr if number == STDERR else stdout
            capture.feed(chunk)
            if capture.total > flood:
                self.end(EndedBy.OUTPUT)
        return stdout.output(), stderr.output()

    def _chunks(self) -> Iterator[tuple[int, bytes]]:
        while len(header := self._read(HEADER.size)) == HEADER.size:
            number, size = HEADER.unpack(header)
            while size:
                chunk = self._socket.recv(min(size, _CHUNK))
                if not chunk:
                    return
                size -= len(chunk)
                yield number, chunk

    def _read(self, size: int) -> bytes:
        read = b""
        while len(read) < size and (chunk := self._socket.recv(size - len(read))):
            read += chunk
        return read

    def _facts(self, code: int | None, words: list[int], stdout: Output, stderr: Output) -> Facts:
        status, timed_out, oom = words or (128 - (code or 0) if (code or 0) > 128 else code, 0, 0)
        ended_by = EndedBy.EXIT if (status or 0) >= 0 else EndedBy.SIGNAL
        if self._why is not None:
            ended_by = self._why
        elif timed_out:
            ended_by = EndedBy.WALL_TIME
        elif oom and status:
            ended_by = EndedBy.MEMORY
        number = exit_codes.of_ending(ended_by, status, -(status or 0))
        return Facts(ended_by, number, stdout, stderr)


def _last_words(stderr: Output, token: str) -> tuple[Output, list[int]]:
    """What supervised.py says behind everything else: status, timed out, out of memory."""
    said, mark, words = stderr.data.rpartition(token.encode())
    if not mark:
        return stderr, []
    kind, *more = words.decode().split()
    if kind == "failed":
        raise _not_started(" ".join(more))
    return Output(head=said, dropped=stderr.dropped), [int(kind), *map(int, more)]


def _check_start(code: int | None, stdout: Output) -> None:
    """Python itself is there, as we know, so it is the daemon who says this."""
    if code in _NOT_STARTED:
        raise _not_started(stdout.text.strip())


def _not_started(why: str) -> EngineUnavailable:
    return EngineUnavailable(
        f"no process can be started in this container: {why}",
        hint="raise its limit of processes (pids_limit), and start it with init=True",
    )


def _source() -> str:
    inside = resources.files("coderunner.notebook.inside")
    return inside.joinpath("supervised.py").read_text("utf-8")


def _succeeds(container: Any, command: list[str]) -> bool:
    """Some daemons refuse a command that is not there, others say so by its exit code."""
    try:
        return bool(container.exec_run(command).exit_code == 0)
    except Exception as error:
        if getattr(error, "status_code", None) == _BAD_REQUEST:
            return False
        raise
