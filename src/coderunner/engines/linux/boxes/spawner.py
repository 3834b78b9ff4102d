"""The spawner: makes boxes on request, watches their clocks and meters, reports how they ended.

Single-threaded, so that it may clone itself; one epoll loop, so that it sleeps when idle.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import select
import signal
import socket
import time

from . import host, protocol
from .making import Maker
from .running import RunningBox

_NO_DEADLINE = -1.0


class Spawner:
    def __init__(self, channel: socket.socket, maker: Maker) -> None:
        self._channel = channel
        self._maker = maker
        self._poll = select.epoll()
        self._poll.register(channel.fileno(), select.EPOLLIN)
        self._boxes: dict[int, RunningBox] = {}  # by job id
        self._by_fd: dict[int, RunningBox] = {}  # by pidfd and memory event

    def serve(self) -> None:
        """Work until the caller is gone."""
        try:
            while self._turn():
                pass
        finally:
            self._end_all()

    def _turn(self) -> bool:
        for fd, _ in self._poll.poll(self._sleep_seconds()):
            if fd == self._channel.fileno():
                if not self._read_channel():
                    return False
            elif fd in self._by_fd:
                self._on_box_event(fd)
        now = time.monotonic()
        for running in self._boxes.values():
            if now >= running.wakes_at:
                running.check(now)
        return True

    def _sleep_seconds(self) -> float:
        if not self._boxes:
            return _NO_DEADLINE
        soonest = min(running.wakes_at for running in self._boxes.values())
        return max(0.0, soonest - time.monotonic())

    def _read_channel(self) -> bool:
        try:
            received = protocol.receive(self._channel)
        except ConnectionError:
            return False
        if received is None:
            return False
        message, fds = received
        if message["op"] == "start":
            self._on_start(message, fds)
        elif message["op"] == "kill" and message["id"] in self._boxes:
            self._boxes[message["id"]].end(message["reason"])
        return True

    def _on_start(self, message: protocol.Message, fds: list[int]) -> None:
        try:
            running = self._maker.make(message, fds)
        except Exception as error:  # one job's trouble must not become that of all the others
            refusal = {"op": "failed", "kind": "engine", "message": _what_happened(error)}
            self._send({**refusal, "id": message["id"]})
            return
        finally:
            for fd in fds:
                os.close(fd)
        self._boxes[running.id] = running
        for fd in running.watched():
            self._by_fd[fd] = running
            self._poll.register(fd, select.EPOLLIN)

    def _on_box_event(self, fd: int) -> None:
        running = self._by_fd[fd]
        if fd == running.pidfd:
            self._finish(running)
        else:
            os.eventfd_read(fd)  # out of memory, and on v1 the kernel killed one process only
            running.end("memory")

    def _finish(self, running: RunningBox) -> None:
        """Process 1 is dead, and the kernel has killed the rest before letting us know."""
        os.waitpid(running.pid, 0)
        for fd in running.watched():
            self._poll.unregister(fd)
            del self._by_fd[fd]
        del self._boxes[running.id]
        facts = running.conclude()
        workspace = running.workspace()
        running.close()
        self._maker.release(running)
        self._send({**facts, "id": running.id}, [workspace] if workspace is not None else [])
        if workspace is not None:
            os.close(workspace)

    def _send(self, message: protocol.Message, fds: list[int] | None = None) -> None:
        # A caller that is gone shows as end of file on the next read.
        with contextlib.suppress(ConnectionError):
            protocol.send(self._channel, protocol.encode(message), fds or [])

    def _end_all(self) -> None:
        for running in self._boxes.values():
            running.end("killed")
        while self._boxes:
            for fd, _ in self._poll.poll(1.0):
                if fd in self._by_fd and self._by_fd[fd].pidfd == fd:
                    self._finish(self._by_fd[fd])
        self._maker.close()


def _what_happened(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror or error} {error.filename or ''}".strip()
    return f"{type(error).__name__}: {error}"


def main() -> None:
    """Entry point of the spawner process; the socket to the caller is stdin."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 of a box must have no handlers
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # five for each box at once
    channel = socket.socket(fileno=0)
    try:
        this = host.prepare()
    except host.Unsuitable as error:
        refusal = {"op": "unusable", "message": str(error), "hint": error.hint}
        protocol.send(channel, protocol.encode(refusal))
        return
    spawner = Spawner(channel, Maker(this.cgroups))
    protocol.send(channel, protocol.encode({"op": "hello", **this.facts()}))
    gc.collect()
    gc.freeze()
    gc.disable()  # a collection would touch, and so copy, every page in every box
    spawner.serve()
