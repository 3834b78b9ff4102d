"""The frames between a box and us: what comes from there is not trusted."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

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
    START,
    WINDOW,
    BrokenProtocol,
    Frames,
    frame,
)
from coderunner.notebook.kernel.listeners import Listeners
from coderunner.notebook.kernel.multiplexer import Multiplexer
from coderunner.notebook.kernel.parts import Parts

pytestmark = pytest.mark.unit


def test_frames_come_in_any_pieces() -> None:
    said = [(START, 0, b"x" * 100), (DATA, 7, b""), (CREDIT, 2**32 - 1, b"1234")]
    stream = b"".join(frame(*one) for one in said)
    for size in (1, 3, 9, 10, 1000):
        frames = Frames()
        pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
        assert [one for piece in pieces for one in frames.feed(piece)] == said


@pytest.mark.parametrize("header", [frame(0), frame(8), frame(DATA, 1, b"x" * (MOST_PAYLOAD + 1))])
def test_frames_of_no_kind_or_any_size(header: bytes) -> None:
    with pytest.raises(BrokenProtocol):
        list(Frames().feed(header))


GREETING = b"\xff" + bytes(8) + b"\x7f\x03" + bytes(53)


def part(data: bytes, flags: int = 0) -> bytes:
    """Of a message of ZeroMQ's."""
    if len(data) < 256:
        return bytes([flags, len(data)]) + data
    return bytes([flags | 2]) + len(data).to_bytes(8, "big") + data


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_parts_are_counted_however_they_come(size: int) -> None:
    parts = Parts()
    message = part(b"x" * 300, 1) * 900 + part(b"end")
    stream = GREETING + message * 3
    for at in range(0, len(stream), size):
        parts.feed(stream[at : at + size])
    parts.feed(part(b"", 1) * 1000)
    with pytest.raises(BrokenProtocol, match="too many parts"):
        parts.feed(part(b"", 1))


@pytest.mark.parametrize("greeting", [b"\x01\x00", GREETING[:10] + b"\x01" + GREETING[11:]])
def test_another_protocol(greeting: bytes) -> None:
    with pytest.raises(BrokenProtocol, match="ZeroMQ"):
        Parts().feed(greeting)


class Box:
    """The other end, played by hand."""

    def __init__(self, folder: Path) -> None:
        self.stem = folder / "s"
        self.multiplexer = Multiplexer()
        self.listeners = Listeners(self.multiplexer)
        self.frames = Frames()
        self.sent = self.multiplexer.outgoing()
        self.waiting: list[tuple[int, int, bytes]] = []

    async def open(self) -> None:
        ports = {f"{name}_port": number for number, name in enumerate(CHANNELS, start=1)}
        await self.listeners.open({"transport": "ipc", "ip": str(self.stem), **ports})

    async def connect(self, port: int = 2) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        streams = await asyncio.open_unix_connection(f"{self.stem}-{port}")
        assert await self.hears() == (OPEN, 1, bytes([port - 1]))
        return streams

    async def hears(self) -> tuple[int, int, bytes]:
        while not self.waiting:
            self.waiting += self.frames.feed(await anext(self.sent))
        return self.waiting.pop(0)

    async def says(self, *frame_of: object) -> None:
        await self.multiplexer(Stream.STDOUT, frame(*frame_of))  # type: ignore[arg-type]


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Box]:
    box = Box(tmp_path)
    await box.open()
    yield box
    box.listeners.close()
    await box.multiplexer.close()
    assert list(tmp_path.iterdir()) == []


async def test_bytes_go_both_ways(box: Box) -> None:
    reader, writer = await box.connect()
    writer.write(b"hello")
    assert await box.hears() == (DATA, 1, b"hello")
    await box.says(DATA, 1, b"there")
    assert await reader.read(10) == b"there"
    assert await box.hears() == (CREDIT, 1, CREDITS.pack(5))
    writer.close()
    assert await box.hears() == (CLOSE, 1, b"")


async def test_who_closes_is_heard_to_the_end(box: Box) -> None:
    reader, writer = await box.connect()
    await box.says(DATA, 1, b"last words")
    await box.says(CLOSE, 1)
    assert await reader.read() == b"last words"
    writer.close()


async def test_no_more_is_sent_than_was_allowed(box: Box) -> None:
    _, writer = await box.connect()
    writer.write(b"x" * 3 * WINDOW)
    got = 0
    while got < WINDOW:
        kind, _, payload = await box.hears()
        assert kind == DATA
        got += len(payload)
    assert got == WINDOW
    more = asyncio.create_task(box.hears())
    assert not (await asyncio.wait({more}, timeout=0.1))[0]
    await box.says(CREDIT, 1, CREDITS.pack(10))
    assert await more == (DATA, 1, b"x" * 10)
    writer.close()


async def test_a_client_that_does_not_read_holds_up_nobody(box: Box) -> None:
    _, writer = await box.connect()
    for _ in range(WINDOW // MOST_PAYLOAD):
        await box.says(DATA, 1, b"x" * MOST_PAYLOAD)
    await box.says(READY)
    assert box.multiplexer.ready.is_set()
    writer.close()


async def test_what_nobody_takes_is_held_back(box: Box) -> None:
    box.multiplexer.most_waiting = 100
    reader, writer = await box.connect()
    await box.says(DATA, 1, GREETING + part(b"x" * 100))
    await box.says(DATA, 1, part(b"y"))
    assert await reader.readexactly(166) == GREETING + part(b"x" * 100)
    more = asyncio.create_task(reader.read(1))
    assert not (await asyncio.wait({more}, timeout=0.1))[0]
    box.multiplexer.taken("iopub", 100)
    assert await more == b"\0"
    writer.close()


async def test_credits_do_not_pile_up(box: Box) -> None:
    """A box that says much in small pieces, and does not listen to what it is told about them."""
    reader, writer = await box.connect()
    for _ in range(1000):
        await box.says(DATA, 1, b"xy")
    assert len(await reader.readexactly(2000)) == 2000
    assert await box.hears() == (CREDIT, 1, CREDITS.pack(2000))
    assert box.waiting == []
    writer.close()


async def test_who_has_sent_more_than_was_credited(box: Box) -> None:
    reader, writer = await box.connect()
    for _ in range(WINDOW // MOST_PAYLOAD):
        await box.says(DATA, 1, b"x" * MOST_PAYLOAD)
    await reader.readexactly(WINDOW)
    with pytest.raises(BrokenProtocol, match="more bytes"):
        await box.says(DATA, 1, b"x")
    writer.close()


BROKEN: list[Callable[[], bytes]] = [
    lambda: frame(DATA, 2, b"for nobody"),
    lambda: frame(DATA, 0, b"for nobody"),
    lambda: frame(DATA, 1, b""),
    lambda: frame(CREDIT, 1, CREDITS.pack(1)),
    lambda: frame(CREDIT, 1, b"x"),
    lambda: frame(OPEN, 1, b"\0"),
    lambda: frame(START, 1, b"{}"),
    lambda: frame(DATA, 1, b"x" * MOST_PAYLOAD) * (WINDOW // MOST_PAYLOAD + 1),
]


@pytest.mark.parametrize("broken", BROKEN)
async def test_what_no_relay_of_ours_would_send(box: Box, broken: Callable[[], bytes]) -> None:
    _, writer = await box.connect()
    with pytest.raises(BrokenProtocol):
        await box.multiplexer(Stream.STDOUT, broken())
    writer.close()


async def test_who_has_just_connected_is_let_go(box: Box) -> None:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=theirs)
    box.multiplexer.serve("shell", *await asyncio.open_connection(sock=ours))
    await box.multiplexer.close()
    assert await reader.read() == b""
    writer.close()


async def test_stderr_is_no_frame(box: Box) -> None:
    await box.multiplexer(Stream.STDERR, b"\xff" * 100)
