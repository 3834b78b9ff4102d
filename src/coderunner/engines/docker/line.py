"""One stream of a container, as it comes from the daemon: frames, and what is in them.

    what the program wrote │ token │ what the warden says
                           ▼       ▼
                        read()   `said`

The daemon keeps nothing (log driver `none`), so what is not read stays in the pipe, and a program
that floods its output waits for us, as it does with any pipe.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

from coderunner.engines.docker.hijacked import HEADER
from coderunner.forks import dropped_in_children

_CHUNK = 64 * 1024
_MOST_WAITING = 1 << 20  # bytes that nobody has taken yet, before we stop reading


class Line:
    """Owns the socket. `keep` takes what comes behind the token, and `news` is called when the
    warden has said something, or the line is over."""

    def __init__(
        self,
        end: socket.socket,
        token: bytes,
        keep: Callable[[bytes], None],
        news: Callable[[], object],
    ) -> None:
        end.setblocking(False)
        self._end = end
        self._token = token
        self._keep = keep
        self._news = news
        self._waiting = bytearray()  # for whoever reads
        self._held = b""  # it may be the beginning of the token
        self._marked = False
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()
        self._given_up = False
        self.wanted = False  # somebody has begun to read
        self.stalled = False  # nobody takes what has come
        self.over = asyncio.Event()  # the container closed it, or it broke
        self._pump = asyncio.create_task(self._run())
        dropped_in_children(self)

    @property
    def marked(self) -> bool:
        """Whether the warden has said its word: then all that the program wrote has come."""
        return self._marked

    async def read(self) -> bytes:
        self.wanted = True
        while not self._waiting and not self._ended:
            self._arrived.clear()
            await self._arrived.wait()
        chunk = bytes(self._waiting[:_CHUNK])
        del self._waiting[:_CHUNK]
        self._taken.set()
        return chunk

    async def write(self, data: bytes) -> None:
        """BrokenPipeError once nobody will read it."""
        loop = asyncio.get_running_loop()
        view = memoryview(data)
        try:
            for start in range(0, len(view), _CHUNK):
                if self._ended:
                    raise BrokenPipeError("the program has ended")
                await loop.sock_sendall(self._end, view[start : start + _CHUNK])
        except (ConnectionError, OSError, ValueError) as error:
            raise BrokenPipeError("the container has ended") from error

    def close_write(self) -> None:
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_WR)

    async def close(self) -> None:
        self._pump.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._pump
        self.drop()

    def drop(self) -> None:
        self._end.close()

    @property
    def _ended(self) -> bool:
        return self._marked or self.over.is_set()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        left = 0  # of the frame that is being read
        header = b""
        try:
            while data := await loop.sock_recv(self._end, _CHUNK):
                rest = memoryview(data)
                while rest:
                    if not left:
                        missing = HEADER.size - len(header)
                        header, rest = header + bytes(rest[:missing]), rest[missing:]
                        if len(header) == HEADER.size:
                            (_, left), header = HEADER.unpack(header), b""
                        continue
                    await self._take(bytes(rest[:left]))
                    left, rest = max(0, left - len(rest)), rest[left:]
        except OSError:
            pass  # a line that breaks is at its end
        finally:
            self._offer(self._held)
            self._held = b""
            self.over.set()
            self._arrived.set()
            self._news()

    async def _take(self, data: bytes) -> None:
        if self._marked:
            self._keep(data)
            self._news()
            return
        data = self._held + data
        before, mark, after = data.partition(self._token)
        if mark:
            self._marked = True
            self._held = b""
            self._offer(before)
            self._keep(after)
            self._arrived.set()
            self._news()
            return
        keep = _beginning(data, self._token)
        self._held = data[len(data) - keep :]
        self._offer(data[: len(data) - keep])
        while len(self._waiting) > _MOST_WAITING and not self._given_up:
            self.stalled = True
            self._taken.clear()
            await self._taken.wait()
        self.stalled = False

    def give_up(self) -> None:
        """Do not wait any more for somebody to take what comes: what is too much is dropped."""
        self._given_up = True
        self._taken.set()

    def _offer(self, data: bytes) -> None:
        if data and not (self._given_up and len(self._waiting) > _MOST_WAITING):
            self._waiting += data
            self._arrived.set()


def _beginning(data: bytes, token: bytes) -> int:
    """How many bytes at the end of the data are the beginning of the token."""
    for size in range(min(len(token) - 1, len(data)), 0, -1):
        if token.startswith(data[-size:]):
            return size
    return 0
