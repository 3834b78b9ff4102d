"""The sink sees every byte, in order, as it comes."""

from __future__ import annotations

import asyncio
import os

import pytest

from coderunner.capture import communicate
from coderunner.model import Limits, Stream
from tests.unit.piped import Piped, finish_in, run

pytestmark = pytest.mark.unit


async def test_the_sink_sees_every_byte_in_order() -> None:
    got: dict[Stream, bytes] = {Stream.STDOUT: b"", Stream.STDERR: b""}
    data = os.urandom(300_000)

    def sink(stream: Stream, chunk: bytes) -> None:
        got[stream] += chunk

    def play(process: Piped) -> None:
        os.write(process.fd(Stream.STDOUT), data)
        os.write(process.fd(Stream.STDERR), b"err")
        finish_in(process)

    _, out, _, _ = await run(play, sink=sink, limits=Limits(output_bytes=10))
    assert got == {Stream.STDOUT: data, Stream.STDERR: b"err"}
    assert out.dropped == len(data) - 10


async def test_the_sink_sees_bytes_while_the_program_runs() -> None:
    seen = asyncio.Event()

    def sink(stream: Stream, chunk: bytes) -> None:
        seen.set()

    process = Piped()

    async def drive() -> None:
        os.write(process.fd(Stream.STDOUT), b"live")
        await asyncio.wait_for(seen.wait(), 5)
        process.finish()

    async def pass_on(stream: Stream, chunk: bytes) -> None:
        sink(stream, chunk)

    driving = asyncio.create_task(drive())
    await communicate(process, stdin=None, limits=Limits(), sink=pass_on)
    await driving
    await process.close()


async def test_a_sink_that_raises_ends_the_run() -> None:
    def sink(stream: Stream, chunk: bytes) -> None:
        raise ConnectionResetError("the client has gone")

    def play(process: Piped) -> None:
        os.write(process.fd(Stream.STDOUT), b"x")

    with pytest.raises(ConnectionResetError, match="client has gone"):
        await run(play, sink=sink)


class Told:
    """A sink that wants to know when a stream is over."""

    def __init__(self) -> None:
        self.heard: list[tuple[Stream, bytes | None]] = []
        self.over = asyncio.Event()

    async def __call__(self, stream: Stream, chunk: bytes) -> None:
        self.heard.append((stream, chunk))

    async def ended(self, stream: Stream) -> None:
        self.heard.append((stream, None))
        self.over.set()


async def test_a_sink_may_be_told_that_a_stream_is_over_while_the_program_goes_on() -> None:
    process, told = Piped(), Told()
    running = asyncio.create_task(communicate(process, stdin=None, limits=Limits(), sink=told))
    os.write(process.fd(Stream.STDOUT), b"bye")
    os.close(process.fd(Stream.STDOUT))
    await asyncio.wait_for(told.over.wait(), 10)
    assert told.heard == [(Stream.STDOUT, b"bye"), (Stream.STDOUT, None)]
    process.finish(keep_open=(Stream.STDOUT,))
    await running
    assert told.heard[-1] == (Stream.STDERR, None)
    await process.close()
