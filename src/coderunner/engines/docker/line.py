"""One stream of a container, both ways, for as long as the container is there.

    the program's pipe ─▶ warden ─▶ OUTPUT │ what the warden says ─▶ here ─▶ an inbox │ `hear`

The daemon keeps nothing (log driver `none`), so what is not read stays in the pipe, and a program
that floods its output waits for us, as it does with any pipe.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Callable

from coderunner.engines.docker.frames import WARDENS, Answer, Frames
from coderunner.engines.docker.hijacked import HEADER
from coderunner.engines.docker.inbox import Inbox
from coderunner.forks import dropped_in_children

_CHUNK = 64 * 1024
_LONGEST_WORDS = 64 * 1024  # of what a warden says at once
_MOST_PARTS = 16  # of what is sent at once

Hear = Callable[[int, bytes], None]


class Line:
    """Owns the socket. `hear` takes what the warden says; `inbox`, if there is a program, what that
    writes."""

    def __init__(self, end: socket.socket, hear: Hear, on_over: Callable[[], None]) -> None:
        end.setblocking(False)
        self._end = end
        self._hear = hear
        self._on_over = on_over
        self._said = b""  # of what the warden has not finished saying
        self._outbox: deque[memoryview] = deque()
        self._sent = asyncio.Event()
        self.inbox: Inbox | None = None
        self.over = False  # the container closed it, or it broke
        self._loop = asyncio.get_running_loop()
        self._pump = asyncio.create_task(self._run())
        dropped_in_children(self)

    def post(self, *parts: bytes | memoryview) -> None:
        """Send this, behind all that was posted before. What is begun is finished, whoever is
        cancelled meanwhile: half a frame would spoil all that come behind it."""
        if not self.over:
            was_idle = not self._outbox
            self._outbox.extend(memoryview(part) for part in parts if part)
            if was_idle:
                self._flush()

    async def sent(self) -> None:
        """Wait until all of it has left, or cannot any more."""
        while self._outbox:
            self._sent.clear()
            await self._sent.wait()

    async def close(self) -> None:
        self._pump.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._pump
        self.drop()

    def drop(self) -> None:
        self._end.close()

    def _flush(self) -> None:
        try:
            while self._outbox:
                some = [self._outbox[n] for n in range(min(_MOST_PARTS, len(self._outbox)))]
                self._forget(self._end.sendmsg(some))
        except BlockingIOError:
            self._loop.add_writer(self._end, self._flush)
            return
        except OSError:
            self._outbox.clear()  # whoever reads will find that it has ended
        self._stop_sending()

    def _forget(self, count: int) -> None:
        while count:
            first = self._outbox.popleft()
            if count < len(first):
                self._outbox.appendleft(first[count:])
            count -= min(count, len(first))

    def _stop_sending(self) -> None:
        with contextlib.suppress(ValueError, OSError):
            self._loop.remove_writer(self._end)
        self._sent.set()

    async def _run(self) -> None:
        daemons, wardens = Frames(HEADER), Frames(WARDENS)
        try:
            while data := await self._loop.sock_recv(self._end, _CHUNK):
                for _, piece, _ in daemons.cut(data):
                    for kind, words, is_last in wardens.cut(piece):
                        await self._take(kind, words, is_last)
        except (OSError, ValueError):
            pass  # a line that breaks is at its end
        finally:
            self._finish()

    async def _take(self, kind: int, words: memoryview, is_last: bool) -> None:
        if kind == Answer.OUTPUT:
            if self.inbox is None:
                raise ValueError("there is no program that could write")
            await self.inbox.put(words)
            return
        if kind == Answer.FILES:
            self._hear(kind, bytes(words))
            return
        self._said += words
        if len(self._said) > _LONGEST_WORDS:
            raise ValueError("no warden says as much")
        if is_last:
            said, self._said = self._said, b""
            self._hear(kind, said)

    def _finish(self) -> None:
        self.over = True
        self._outbox.clear()
        self._stop_sending()
        if self.inbox is not None:
            self.inbox.end()
        self._on_over()
