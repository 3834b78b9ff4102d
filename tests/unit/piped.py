"""A process that is nothing but real pipes, and a way to play a program on it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable

from coderunner.capture import communicate
from coderunner.engines.base import Process, Reader
from coderunner.model import EndedBy, Exit, Isolation, Limits, Output, Stream, Usage
from coderunner.pipes import PipeReader, PipeWriter

USAGE = Usage(wall_ms=1.0, cpu_ms=1.0, memory_peak_kb=1)
OK = Exit(EndedBy.EXIT, 0, None, USAGE)


class Piped(Process):
    """A process that is nothing but real pipes: the test plays the program."""

    isolation = Isolation.NONE

    def __init__(self) -> None:
        self.pipes = {stream: os.pipe() for stream in Stream}
        self.stdin_fd, stdin = os.pipe()
        self.readers = {stream: PipeReader(fds[0]) for stream, fds in self.pipes.items()}
        self.writer = PipeWriter(stdin)
        self.ended: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self.killed: list[EndedBy] = []
        self.dead = False

    def fd(self, stream: Stream) -> int:
        return self.pipes[stream][1]

    def finish(self, how: Exit = OK, *, keep_open: tuple[Stream, ...] = ()) -> None:
        if self.dead:
            return  # killed in the meantime
        self.dead = True
        os.close(self.stdin_fd)
        for stream in Stream:
            if stream not in keep_open:
                os.close(self.fd(stream))
        self.ended.set_result(how)

    def reader(self, stream: Stream) -> Reader:
        return self.readers[stream]

    async def write(self, data: bytes) -> None:
        await self.writer.write(data)

    def close_stdin(self) -> None:
        self.writer.close()

    def kill(self, reason: EndedBy = EndedBy.KILLED) -> None:
        self.killed.append(reason)
        self.finish(Exit(reason, None, 9, USAGE))

    async def wait(self) -> Exit:
        return await asyncio.shield(self.ended)

    def workspace_fd(self) -> int:
        raise NotImplementedError

    async def close(self) -> None:
        self.kill()
        self.writer.close()
        for reader in self.readers.values():
            reader.close()


Play = Callable[[Piped], None]


async def run(
    play: Play,
    *,
    stdin: bytes | AsyncIterator[bytes] | None = None,
    limits: Limits | None = None,
    sink: Callable[[Stream, bytes], object] | None = None,
) -> tuple[Exit, Output, Output, Piped]:
    """Play a program in a thread (its writes block like a real one's) and communicate with it."""
    process = Piped()

    async def pass_on(stream: Stream, data: bytes) -> None:
        assert sink is not None
        result = sink(stream, data)
        if asyncio.iscoroutine(result):
            await result

    played = asyncio.create_task(asyncio.to_thread(play, process))
    try:
        ended, out, err = await asyncio.wait_for(
            communicate(
                process,
                stdin=stdin,
                limits=limits or Limits(),
                sink=pass_on if sink is not None else None,
            ),
            10,
        )
    finally:
        await process.close()
        await asyncio.wait({played})
        assert asyncio.all_tasks() == {asyncio.current_task()}
    return ended, out, err, process


def finish_in(process: Piped, **how: object) -> None:
    process.ended.get_loop().call_soon_threadsafe(lambda: process.finish(**how))  # type: ignore[arg-type]
