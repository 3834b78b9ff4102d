"""A real spawner at the end of a bare socket, to which anything at all can be sent."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coderunner.engines.linux import client
from coderunner.engines.linux.boxes import protocol, sampling

Message = protocol.Message
LIMITS = {
    "wall_ms": 5000,
    "cpu_ms": None,
    "memory_mb": 64,
    "processes": 16,
    "disk_mb": 4,
    "files": 100,
    "stack_mb": 8,
    "cpus": None,
    "address_space_mb": None,
}
_PATIENCE = 20.0  # only ends a test that has failed


class Line:
    """The caller's end. Jobs are numbered; no two have the same limits, so that the spawner makes
    no box ahead, and what it holds is the same before and after each."""

    def __init__(self, process: subprocess.Popen[bytes], channel: socket.socket) -> None:
        self.pid = process.pid
        self.process = process
        self._channel = channel
        self._numbers = itertools.count(1)
        channel.settimeout(_PATIENCE)
        hello = self.hear()
        assert hello["op"] == "hello", hello

    def job(self, *argv: str, **changes: Any) -> Message:
        number = next(self._numbers)
        limits = {**LIMITS, "open_files": 100 + number}
        job = {"op": "start", "id": number, "argv": argv, "env": {}, "mounts": [], "limits": limits}
        return {**job, "collect": False, "directory": "/workspace", **changes}

    def say(self, packet: bytes, fds: Sequence[int] = ()) -> None:
        protocol.send(self._channel, packet, fds)

    def hear(self) -> Message:
        """The next answer; descriptors that came with it are closed."""
        received = protocol.receive(self._channel)
        assert received is not None, "the spawner is gone"
        message, fds = received
        for fd in fds:
            os.close(fd)
        return message

    def run(self, job: Message, workspace: Path) -> Message:
        """Run a job as a caller would, and return the answer to it, passing over all others."""
        with descriptors(workspace) as fds:
            self.say(protocol.encode(job), fds)
        return self.hear_of(job["id"])

    def hear_of(self, number: int) -> Message:
        while (answer := self.hear()).get("id") != number:
            pass
        return answer

    def holdings(self) -> tuple[int, int]:
        """How many processes and descriptors the spawner has, root file systems left out: those
        it keeps on purpose."""
        links = []
        for fd in os.listdir(f"/proc/{self.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                links.append(os.readlink(f"/proc/{self.pid}/fd/{fd}"))
        return len(sampling.tree(self.pid)), sum(not link.startswith("mnt:") for link in links)

    def holds_only(self, expected: tuple[int, int]) -> bool:
        """Whether it comes back to this: a box that was refused may take a moment to end."""
        deadline = time.monotonic() + _PATIENCE
        while self.holdings() != expected:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True


@contextlib.contextmanager
def descriptors(workspace: Path) -> Iterator[list[int]]:
    """The four that a job needs: stdin, stdout, stderr and its workspace. (Never a device or a
    file of the host: the spawner gives them to the box's user.)"""
    with contextlib.ExitStack() as closing:
        stdin, writer = os.pipe()
        reader, stdout = os.pipe()
        directory = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for fd in (stdin, writer, reader, stdout, directory):
            closing.callback(os.close, fd)
        yield [stdin, stdout, stdout, directory]


@contextlib.contextmanager
def open_line(start: str = client._START, *args: str) -> Iterator[Line]:
    """A spawner of its own. It leaves with its caller, in good order: exit code 0."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    folder = str(Path(client.__file__).parent)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-c", start, folder, *args],
            stdin=theirs.fileno(),
            start_new_session=True,
        )
    with process, ours:
        try:
            yield Line(process, ours)
        finally:
            ours.close()
            process.wait(_PATIENCE)
    assert process.returncode == 0
