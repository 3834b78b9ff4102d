"""What goes in on stdin, whether the program reads it or not."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator

import pytest

from coderunner.model import Stream
from tests.unit.piped import OK, Piped, finish_in, run

pytestmark = pytest.mark.unit


def read_stdin(process: Piped) -> bytes:
    chunks = []
    while chunk := os.read(process.stdin_fd, 65536):
        chunks.append(chunk)
    return b"".join(chunks)


@pytest.mark.parametrize("data", [b"", b"hello\n", bytes(1_000_000)])
async def test_stdin_arrives_and_ends(data: bytes) -> None:
    got = []

    def play(process: Piped) -> None:
        got.append(read_stdin(process))
        finish_in(process)

    await run(play, stdin=data)
    assert got == [data]


async def test_no_stdin_is_an_empty_stdin() -> None:
    def play(process: Piped) -> None:
        assert read_stdin(process) == b""
        finish_in(process)

    assert (await run(play, stdin=None))[0] == OK


async def test_stdin_from_a_source() -> None:
    got = []

    async def source() -> AsyncIterator[bytes]:
        yield b"one "
        await asyncio.sleep(0.01)
        yield b"two"

    def play(process: Piped) -> None:
        got.append(read_stdin(process))
        finish_in(process)

    await run(play, stdin=source())
    assert got == [b"one two"]


async def test_a_program_may_leave_stdin_unread() -> None:
    def play(process: Piped) -> None:
        finish_in(process)

    assert (await run(play, stdin=bytes(1_000_000)))[0] == OK


async def test_a_program_may_close_stdin_and_go_on() -> None:
    closed = []

    async def source() -> AsyncIterator[bytes]:
        try:
            while True:
                yield bytes(100_000)
        finally:
            closed.append(True)

    def play(process: Piped) -> None:
        os.dup2(os.open("/dev/null", os.O_RDONLY), process.stdin_fd)
        time.sleep(0.05)
        os.write(process.fd(Stream.STDOUT), b"done")
        finish_in(process)

    ended, out, _, _ = await run(play, stdin=source())
    assert (ended, out.data, closed) == (OK, b"done", [True])


async def test_a_terminal_that_never_ends_does_not_keep_us() -> None:
    closed = []

    async def terminal() -> AsyncIterator[bytes]:
        try:
            yield b"first line\n"
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    def play(process: Piped) -> None:
        os.read(process.stdin_fd, 100)
        finish_in(process)

    assert (await run(play, stdin=terminal()))[0] == OK
    assert closed == [True]


async def test_a_source_that_raises_ends_the_run() -> None:
    async def source() -> AsyncIterator[bytes]:
        yield b"x"
        raise ValueError("bad upload")

    with pytest.raises(ValueError, match="bad upload"):
        await run(lambda process: None, stdin=source())
