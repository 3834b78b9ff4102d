"""The caller's side of a pipe: nothing lost, nothing left behind."""

from __future__ import annotations

import asyncio
import os

import pytest

from coderunner.pipes import CHUNK, PipeReader, PipeWriter

pytestmark = pytest.mark.unit


def open_fds() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


async def read_all(reader: PipeReader) -> bytes:
    chunks = []
    while chunk := await reader.read():
        chunks.append(chunk)
    return b"".join(chunks)


async def test_what_was_written_before_anybody_read_is_there() -> None:
    r, w = os.pipe()
    os.write(w, b"hello")
    os.close(w)
    reader = PipeReader(r)
    assert await reader.read() == b"hello"
    assert await reader.read() == b""
    assert await reader.read() == b""
    reader.close()


async def test_read_waits_for_bytes() -> None:
    r, w = os.pipe()
    reader = PipeReader(r)
    asyncio.get_running_loop().call_later(0.02, os.write, w, b"late")
    assert await asyncio.wait_for(reader.read(), 5) == b"late"
    os.close(w)
    reader.close()


async def test_megabytes_go_through_both_ends() -> None:
    r, w = os.pipe()
    reader, writer = PipeReader(r), PipeWriter(w)
    data = os.urandom(3_000_001)

    async def send() -> None:
        await writer.write(data)
        writer.close()

    sent = asyncio.create_task(send())
    assert await asyncio.wait_for(read_all(reader), 10) == data
    await sent
    reader.close()


async def test_a_read_gives_at_most_a_pipe_full() -> None:
    r, w = os.pipe()
    reader, writer = PipeReader(r), PipeWriter(w)
    task = asyncio.create_task(writer.write(bytes(2 * CHUNK)))
    await asyncio.sleep(0)
    assert len(await reader.read()) == CHUNK
    reader.close()
    with pytest.raises(BrokenPipeError):
        await task
    writer.close()


async def test_closing_the_reader_ends_a_read_in_progress() -> None:
    before = open_fds()
    r, w = os.pipe()
    reader = PipeReader(r)
    task = asyncio.create_task(reader.read())
    await asyncio.sleep(0.01)
    reader.close()
    assert await asyncio.wait_for(task, 1) == b""
    reader.close()
    os.close(w)
    assert open_fds() == before


async def test_closing_the_writer_ends_a_write_in_progress() -> None:
    r, w = os.pipe()
    writer = PipeWriter(w)
    task = asyncio.create_task(writer.write(bytes(10 * CHUNK)))
    await asyncio.sleep(0.01)
    writer.close()
    with pytest.raises(BrokenPipeError):
        await asyncio.wait_for(task, 1)
    with pytest.raises(BrokenPipeError):
        await writer.write(b"more")
    os.close(r)


async def test_a_write_nobody_reads_is_a_broken_pipe() -> None:
    r, w = os.pipe()
    writer = PipeWriter(w)
    os.close(r)
    with pytest.raises(BrokenPipeError):
        await writer.write(b"x")
    writer.close()


async def test_a_blocked_write_learns_that_the_reader_has_gone() -> None:
    r, w = os.pipe()
    writer = PipeWriter(w)
    task = asyncio.create_task(writer.write(bytes(10 * CHUNK)))
    await asyncio.sleep(0.01)
    os.close(r)
    with pytest.raises(BrokenPipeError):
        await asyncio.wait_for(task, 1)
    writer.close()


async def test_a_cancelled_read_leaves_no_watcher_and_loses_nothing() -> None:
    r, w = os.pipe()
    reader = PipeReader(r)
    task = asyncio.create_task(reader.read())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not asyncio.get_running_loop().remove_reader(r)
    os.write(w, b"kept")
    assert await reader.read() == b"kept"
    os.close(w)
    reader.close()


async def test_a_cancelled_write_leaves_no_watcher() -> None:
    r, w = os.pipe()
    writer = PipeWriter(w)
    task = asyncio.create_task(writer.write(bytes(10 * CHUNK)))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not asyncio.get_running_loop().remove_writer(w)
    writer.close()
    os.close(r)


async def test_two_readers_of_one_end_are_a_mistake() -> None:
    r, w = os.pipe()
    reader = PipeReader(r)
    first = asyncio.create_task(reader.read())
    await asyncio.sleep(0.01)
    with pytest.raises(RuntimeError, match="two tasks"):
        await reader.read()
    os.write(w, b"x")
    assert await asyncio.wait_for(first, 1) == b"x"
    os.close(w)
    reader.close()
