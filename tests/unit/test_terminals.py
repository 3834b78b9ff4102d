"""Our end of a terminal, with a slave of the test's at the other."""

from __future__ import annotations

import asyncio
import os
import tty
from collections.abc import AsyncIterator

import pytest

from coderunner.model import Terminal
from coderunner.terminals import SilentReader, TerminalReader, TerminalWriter, open_terminal

pytestmark = pytest.mark.unit


class Ends:
    def __init__(self) -> None:
        master, self.slave = open_terminal(Terminal(10, 20))
        self.writer = TerminalWriter(os.dup(master), os.dup(self.slave))
        self.reader = TerminalReader(master)

    def close(self) -> None:
        self.writer.close()
        self.reader.close()
        if self.slave >= 0:
            os.close(self.slave)

    def hang_up(self) -> None:
        """The program's end."""
        os.close(self.slave)
        self.slave = -1
        self.writer.close()


@pytest.fixture
async def ends() -> AsyncIterator[Ends]:
    before = sorted(os.listdir("/proc/self/fd"))
    ends = Ends()
    yield ends
    ends.close()
    assert sorted(os.listdir("/proc/self/fd")) == before


async def test_what_was_written_is_read_and_then_the_end(ends: Ends) -> None:
    os.write(ends.slave, b"last words")
    ends.hang_up()
    assert await ends.reader.read() == b"last words"
    assert await ends.reader.read() == b""
    with pytest.raises(BrokenPipeError):
        await ends.writer.write(b"x")
    ends.writer.end()


async def test_who_waits_for_more_hears_of_the_end(ends: Ends) -> None:
    reading = asyncio.create_task(ends.reader.read())
    await asyncio.sleep(0)
    ends.hang_up()
    assert await reading == b""


async def test_the_end_is_typed_once_there_is_room(ends: Ends) -> None:
    tty.setraw(ends.slave)
    os.set_blocking(ends.slave, False)
    typed = bytearray()

    async def type_on() -> None:
        while True:
            await ends.writer.write(b"x")
            typed.extend(b"x")

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(type_on(), 0.5)  # when nothing fits any more
    ends.writer.end()
    found = b""
    while not found.endswith(b"\x04\x04"):  # in the middle of a line
        await asyncio.sleep(0.01)
        try:
            found += os.read(ends.slave, 65536)
        except BlockingIOError:
            continue
    assert found == typed + b"\x04\x04"


async def test_who_still_types_at_the_end_is_told(ends: Ends) -> None:
    tty.setraw(ends.slave)
    typing = asyncio.create_task(ends.writer.write(b"x" * 1_000_000))
    await asyncio.sleep(0.05)
    ends.writer.end()
    with pytest.raises(BrokenPipeError):
        await typing


async def test_nobody_in_the_foreground_gets_no_key(ends: Ends) -> None:
    assert not ends.writer.press(2)


async def test_its_size_and_its_modes(ends: Ends) -> None:
    assert os.get_terminal_size(ends.slave) == (20, 10)
    ends.writer.resize(30, 40)
    assert os.get_terminal_size(ends.slave) == (40, 30)
    await ends.writer.write("é\x7f\n".encode())  # one key takes back both bytes
    assert os.read(ends.slave, 100) == b"\n"


async def test_what_is_silent_has_ended() -> None:
    reader = SilentReader()
    assert await reader.read() == b""
    reader.close()
