"""The caller's side of a process's pipes, on asyncio and without its streams.

`asyncio.StreamReader` brings a transport, a protocol and a second buffer per pipe. A run needs
none of that: try the system call, and only when the kernel says "not now" wait for the fd. Both
classes own the fd they are given, put it into non-blocking mode, and serve one task at a time.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from coderunner.errors import WATCH_REMEDIES, faults_of_the_machine
from coderunner.forks import dropped_in_children

CHUNK = 64 * 1024  # what a Linux pipe holds, so one read empties it


class _Pipe:
    """An owned fd and at most one task that waits for it."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._waiter: asyncio.Future[None] | None = None
        dropped_in_children(self)

    @property
    def closed(self) -> bool:
        return self._fd < 0

    def close(self) -> None:
        """Let go of the fd; a task that waits for it wakes up and finds it closed."""
        if self.closed:
            return
        if self._waiter is not None:
            # Before the fd is closed: its number may be somebody else's right after.
            self._forget(self._waiter.get_loop())
            _wake(self._waiter)
        self.drop()

    def drop(self) -> None:
        if not self.closed:
            fd, self._fd = self._fd, -1
            os.close(fd)

    async def _ready(self, watch: Callable[..., object]) -> None:
        """Wait until `watch` (the loop's add_reader or add_writer) reports the fd."""
        if self._waiter is not None:
            raise RuntimeError("two tasks use one end of a pipe at the same time")
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        try:
            with faults_of_the_machine(WATCH_REMEDIES):
                watch(self._fd, _wake, self._waiter)
            await self._waiter
        finally:
            self._waiter = None
            if not self.closed:
                self._forget(loop)

    def _forget(self, loop: asyncio.AbstractEventLoop) -> None:
        raise NotImplementedError


class PipeReader(_Pipe):
    """The end of a pipe that we read."""

    async def read(self) -> bytes:
        """What there is, at most 64 KiB; b"" at the end, or once this reader is closed.

        Comes back without suspending while there is data: a loop around it must yield now and
        then, or a program that floods its output keeps everybody else from running.
        """
        while not self.closed:
            try:
                return os.read(self._fd, CHUNK)
            except BlockingIOError:
                await self._ready(asyncio.get_running_loop().add_reader)
        return b""

    def _forget(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.remove_reader(self._fd)


class PipeWriter(_Pipe):
    """The end of a pipe that we write."""

    _stopped = False

    def end(self) -> None:
        """Nothing more will be written: the reader finds the end."""
        self.close()

    def stop(self) -> None:
        """Nothing more will be written, and the pipe stays open."""
        self._stopped = True
        if self._waiter is not None:
            _wake(self._waiter)

    async def write(self, data: bytes) -> None:
        """All of `data`, however long it takes; BrokenPipeError once nobody will read it."""
        rest = memoryview(data)
        while rest:
            if self.closed or self._stopped:
                raise BrokenPipeError("this end of the pipe was closed")
            try:
                rest = rest[os.write(self._fd, rest) :]
            except BlockingIOError:
                await self._ready(asyncio.get_running_loop().add_writer)

    def _forget(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.remove_writer(self._fd)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
