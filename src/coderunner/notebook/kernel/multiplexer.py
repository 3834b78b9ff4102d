"""Many connections over the two pipes of a job: the end that is not in the box.

What comes from the box is not trusted. A frame that no relay of ours would send ends the session,
and no connection can make us hold more than its window.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from coderunner.cancelling import cancel
from coderunner.model import Stream
from coderunner.notebook.inside.relay import (
    CHANNELS,
    CLOSE,
    CREDIT,
    CREDITS,
    DATA,
    MOST_PAYLOAD,
    OPEN,
    READY,
    SIGNAL,
    WINDOW,
    BrokenProtocol,
    Frames,
    frame,
)
from coderunner.notebook.kernel.parts import Parts

_MOST_CONNECTIONS = 64


class Connection:
    """Somebody who is connected to one of our sockets."""

    def __init__(
        self,
        number: int,
        channel: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.number = number
        self.channel = channel
        self.reader = reader
        self.writer = writer
        self.may_send = WINDOW  # to the box
        self.held: deque[bytes] = deque()  # from the box, not passed on yet
        self.held_bytes = 0
        self.passed_on = 0  # bytes that the box has not been told of yet
        self.parts = Parts()
        self.untaken = 0  # bytes that were passed on, and that nobody has taken from his socket
        self.over = False
        self.changed = asyncio.Event()

    def hold(self, payload: bytes) -> None:
        self.held_bytes += len(payload)
        if self.held_bytes + self.passed_on > WINDOW:
            raise BrokenProtocol("more bytes than it was allowed to send")
        self.held.append(payload)
        self.changed.set()

    def credit(self, count: int) -> None:
        self.may_send += count
        if self.may_send > WINDOW:
            raise BrokenProtocol("it has taken more bytes than there were")
        self.changed.set()

    def end(self) -> None:
        self.over = True
        self.changed.set()

    async def change(self) -> None:
        self.changed.clear()
        await self.changed.wait()


class Multiplexer:
    """Give it to a job as its sink, and `outgoing()` as its stdin.

    libzmq reads as much as there is. Who sets `most_waiting`, and calls `taken` for each message,
    has no more bytes than that in memory, and messages of no more parts than a kernel's have.
    """

    def __init__(self) -> None:
        self.ready = asyncio.Event()  # the kernel listens
        self.left: dict[str, asyncio.Event] = {name: asyncio.Event() for name in CHANNELS}
        self.most_waiting: int | None = None
        self._frames = Frames()
        self._connections: dict[int, Connection] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._numbers = 0
        self._outgoing: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self._over = False

    def send(self, message: bytes) -> None:
        """Something short that cannot wait: an order."""
        self._outgoing.append(message)
        self._wake()

    def signal(self, number: int) -> None:
        self.send(frame(SIGNAL, payload=bytes([number])))

    def serve(
        self, channel: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Connect somebody with one of the kernel's channels."""
        if self._over or len(self._connections) >= _MOST_CONNECTIONS:
            writer.close()
            return
        self._numbers += 1
        connection = Connection(self._numbers, channel, reader, writer)
        self._connections[self._numbers] = connection
        self.send(frame(OPEN, connection.number, bytes([CHANNELS.index(channel)])))
        task = asyncio.create_task(self._serve(connection))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    def taken(self, channel: str, count: int) -> None:
        """So many bytes of a channel have become messages."""
        for connection in self._connections.values():
            if connection.channel == channel:
                connection.untaken = max(0, connection.untaken - count)
                connection.changed.set()

    async def close(self) -> None:
        self._over = True
        self._wake()
        await cancel(self._serving)
        for connection in self._connections.values():  # whose task had not begun
            connection.writer.transport.abort()
        self._connections.clear()

    async def outgoing(self) -> AsyncIterator[bytes]:
        while not self._over:
            self._changed.clear()
            if chunk := self._all_to_send():
                yield chunk
            else:
                await self._changed.wait()

    def _all_to_send(self) -> bytes:
        """Credits are summed up until the box listens, or they would pile up."""
        frames = [*self._outgoing]
        self._outgoing.clear()
        for connection in self._connections.values():
            if connection.passed_on:
                credits = CREDITS.pack(connection.passed_on)
                frames.append(frame(CREDIT, connection.number, credits))
                connection.passed_on = 0
        return b"".join(frames)

    async def __call__(self, stream: Stream, chunk: bytes) -> None:
        """The sink of the job. What the kernel itself writes to stderr is kept by the runner."""
        if stream is Stream.STDOUT:
            for kind, number, payload in self._frames.feed(chunk):
                self._take(kind, number, payload)

    def _take(self, kind: int, number: int, payload: bytes) -> None:
        if kind == READY:
            self.ready.set()
            return
        if not 0 < number <= self._numbers or kind not in (DATA, CREDIT, CLOSE):
            raise BrokenProtocol(f"a frame of kind {kind} for connection {number}")
        connection = self._connections.get(number)
        if connection is None:
            return  # closed here, and the box does not know yet
        if kind == DATA and payload:
            if self.most_waiting is not None:
                connection.parts.feed(payload)
            connection.hold(payload)
        elif kind == CREDIT:
            connection.credit(_credits(payload))
        elif kind == CLOSE:
            connection.end()
        else:
            raise BrokenProtocol("nothing, sent as something")

    def _wake(self) -> None:
        self._changed.set()

    async def _serve(self, connection: Connection) -> None:
        inwards = asyncio.create_task(self._inwards(connection))
        outwards = asyncio.create_task(self._outwards(connection))
        try:
            await asyncio.wait({inwards, outwards}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel([inwards, outwards])
            del self._connections[connection.number]
            connection.writer.transport.abort()
            if not connection.over and not self._over:
                self.send(frame(CLOSE, connection.number))
                self.left[connection.channel].set()

    async def _inwards(self, connection: Connection) -> None:
        while True:
            while connection.may_send == 0:
                await connection.change()
            chunk = await _read(connection.reader, min(connection.may_send, MOST_PAYLOAD))
            if not chunk:
                return
            connection.may_send -= len(chunk)
            self.send(frame(DATA, connection.number, chunk))

    async def _outwards(self, connection: Connection) -> None:
        try:
            while True:
                while connection.held and not self._waits(connection):
                    payload = connection.held.popleft()
                    connection.writer.write(payload)
                    await connection.writer.drain()
                    connection.held_bytes -= len(payload)
                    connection.untaken += len(payload)
                    connection.passed_on += len(payload)
                    self._wake()
                if connection.over and not connection.held:
                    return
                await connection.change()
        except OSError:
            return

    def _waits(self, connection: Connection) -> bool:
        return self.most_waiting is not None and connection.untaken > self.most_waiting


async def _read(reader: asyncio.StreamReader, most: int) -> bytes:
    try:
        return await reader.read(most)
    except OSError:
        return b""


def _credits(payload: bytes) -> int:
    if len(payload) != CREDITS.size:
        raise BrokenProtocol("a credit that is no number")
    return int(CREDITS.unpack(payload)[0])
