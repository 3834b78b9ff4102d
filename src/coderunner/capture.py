"""One bounded drain loop for everything a program prints.

    program ──pipe──▶ Drain ──▶ Capture   the head and the tail of what was written
                        └─────▶ Sink      every byte, live

Both streams are read for as long as the program runs, so that it never blocks on a full pipe,
and what is kept never grows past its limit, whatever it writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import replace

from coderunner.cancelling import cancel
from coderunner.engines.base import Process, Reader
from coderunner.model import EndedBy, Exit, Limits, Output, Stream

Sink = Callable[[Stream, bytes], Awaitable[None]]
"""Takes the bytes as they come: in order and one at a time per stream, the two streams
independently. A slow sink slows the program down; one that raises ends it. One that is an object
with a method `ended`, `async def ended(stream)`, is told when a stream is over."""

YIELD_EVERY = 16  # chunks read in a row before other tasks get a turn
GRACE_S = 0.1  # how long an ended program's pipe may stay open without giving anything
LAST_READS = 1024  # chunks taken after the end; more than any pipe holds


class Capture:
    """Keeps at most `limit_bytes` of a stream: all of it, or its first and its last half."""

    def __init__(self, limit_bytes: int) -> None:
        self.total = 0
        self._head_limit = (limit_bytes + 1) // 2
        self._tail_limit = limit_bytes - self._head_limit
        self._head = bytearray()
        # A ring, once it is full: `_oldest` is where the next byte goes. Trimming a growing
        # buffer from the front instead would copy all of it for every chunk.
        self._tail = bytearray()
        self._oldest = 0

    def feed(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if chunk and self._tail_limit:
            self._feed_tail(chunk)

    def output(self) -> Output:
        """What was kept so far. As long as nothing was dropped, all of it is in `head`."""
        tail = self._tail[self._oldest :] + self._tail[: self._oldest]
        dropped = self.total - len(self._head) - len(tail)
        if not dropped:
            return Output(head=bytes(self._head + tail))
        return Output(head=bytes(self._head), tail=bytes(tail), dropped=dropped)

    def _feed_tail(self, chunk: bytes) -> None:
        size = self._tail_limit
        room = size - len(self._tail)
        if room > 0:
            self._tail += chunk[:room]
            chunk = chunk[room:]
        if len(chunk) >= size:
            self._tail[:] = chunk[-size:]
            self._oldest = 0
            return
        before_wrap = chunk[: size - self._oldest]
        after_wrap = chunk[len(before_wrap) :]
        self._tail[self._oldest : self._oldest + len(before_wrap)] = before_wrap
        self._tail[: len(after_wrap)] = after_wrap
        self._oldest = (self._oldest + len(chunk)) % size


class Drain:
    """Reads one stream to its end, into a capture and a sink."""

    def __init__(
        self,
        stream: Stream,
        reader: Reader,
        capture: Capture,
        *,
        flood_bytes: int,
        on_flood: Callable[[], None],
        sink: Sink | None = None,
    ) -> None:
        self._stream = stream
        self._reader = reader
        self._capture = capture
        self._flood_bytes = flood_bytes
        self._on_flood = on_flood
        self._sink = sink
        self._reads_left: int | None = None
        self.idle = False  # waits for bytes, and has passed on all that came before

    def last_reads(self) -> None:
        """The program has ended: from here on only what is still in the pipe."""
        self._reads_left = LAST_READS

    @property
    def flooded(self) -> bool:
        return self._capture.total > self._flood_bytes

    async def run(self) -> None:
        reads = 0
        while self._reads_left is None or self._reads_left > 0:
            self.idle = True
            chunk = await self._reader.read()
            self.idle = False
            if not chunk:
                await self._tell_end()
                return
            await self._take(chunk)
            if self.flooded:
                self._on_flood()
                return
            reads += 1
            if self._reads_left is not None:
                self._reads_left -= 1
            if reads % YIELD_EVERY == 0:
                await asyncio.sleep(0)

    async def _tell_end(self) -> None:
        ended = getattr(self._sink, "ended", None)
        if ended is not None:
            await ended(self._stream)

    async def _take(self, chunk: bytes) -> None:
        self._capture.feed(chunk)
        if self._sink is not None:
            await self._sink(self._stream, chunk)


async def communicate(
    process: Process,
    *,
    stdin: bytes | AsyncIterable[bytes] | None,
    limits: Limits,
    sink: Sink | None = None,
) -> tuple[Exit, Output, Output]:
    """Feed a process, take what it prints, and return how it ended, stdout and stderr.

    Whatever goes wrong (the sink or the stdin source raises, the engine breaks, the caller is
    cancelled), the process is told to die and no task is left behind. Closing the process
    remains the caller's part, who may first want to look at its workspace.
    """
    captures = {stream: Capture(limits.output_bytes) for stream in Stream}
    drains = [
        Drain(
            stream,
            process.reader(stream),
            capture,
            flood_bytes=limits.flood_bytes,
            on_flood=lambda: process.kill(EndedBy.OUTPUT),
            sink=sink,
        )
        for stream, capture in captures.items()
    ]
    tasks = {asyncio.create_task(_or_kill(process, drain.run)): drain for drain in drains}
    feeding = _start_feeding(process, stdin)
    try:
        ended = await process.wait()
        await _finish_feeding(feeding)
        await _finish_draining(tasks)
    except BaseException:
        process.kill()
        raise
    finally:
        await cancel([*tasks, feeding] if feeding else tasks)
    if any(drain.flooded for drain in drains):
        ended = _ended_by_output(ended)
    return ended, captures[Stream.STDOUT].output(), captures[Stream.STDERR].output()


def _ended_by_output(ended: Exit) -> Exit:
    """A program may be done before we have read what it wrote. It broke the limit all the same,
    and what is said of it must not depend on who was faster. Another limit's word stands."""
    if ended.ended_by in (EndedBy.EXIT, EndedBy.SIGNAL):
        return replace(ended, ended_by=EndedBy.OUTPUT)
    return ended


async def _or_kill(process: Process, work: Callable[[], Awaitable[None]]) -> None:
    """A failure here must end the program, or `wait` would sit out its whole time limit."""
    try:
        await work()
    except Exception:
        process.kill()
        raise


async def _finish_draining(tasks: dict[asyncio.Task[None], Drain]) -> None:
    """Wait for the end of both streams, but not for ever.

    The tree is dead, so the end comes at once. Where an engine could not catch every process, a
    survivor may hold the pipe open: then a stream is over once it has been silent for a moment.
    Time spent in a slow sink is not silence; nothing that was written is lost to that.
    """
    for drain in tasks.values():
        drain.last_reads()
    pending = set(tasks)
    while pending:
        done, pending = await asyncio.wait(pending, timeout=GRACE_S)
        for task in done:
            task.result()
        if not done:
            pending = {task for task in pending if not tasks[task].idle}


def _start_feeding(
    process: Process, stdin: bytes | AsyncIterable[bytes] | None
) -> asyncio.Task[None] | None:
    if stdin is None or stdin == b"":
        process.close_stdin()
        return None
    return asyncio.create_task(_or_kill(process, lambda: _feed(process, stdin)))


async def _feed(process: Process, stdin: bytes | AsyncIterable[bytes]) -> None:
    """Send all of stdin. A program that does not read all of it is no error."""
    try:
        if isinstance(stdin, bytes):
            await process.write(stdin)
        else:
            await _feed_from(process, stdin)
    except BrokenPipeError:
        pass
    finally:
        process.close_stdin()


async def _feed_from(process: Process, source: AsyncIterable[bytes]) -> None:
    try:
        async for chunk in source:
            await process.write(chunk)
    finally:
        # A generator that is merely dropped would be closed by a task of its own, later.
        if (aclose := getattr(source, "aclose", None)) is not None:
            await aclose()


async def _finish_feeding(feeding: asyncio.Task[None] | None) -> None:
    """The program is gone, so nobody reads what is left: a terminal may well never end."""
    if feeding is not None and feeding.done():
        feeding.result()
    elif feeding is not None:
        await cancel([feeding])
