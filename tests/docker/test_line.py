"""One stream of a container, however it is cut into pieces on its way."""

from __future__ import annotations

import asyncio
import random
import socket

import pytest

from coderunner.engines.docker.frames import WARDENS, Answer
from coderunner.engines.docker.hijacked import HEADER
from coderunner.engines.docker.inbox import Inbox
from coderunner.engines.docker.line import Line

pytestmark = pytest.mark.unit


class Ends:
    """A line with somebody at its other end."""

    def __init__(self, inbox: Inbox | None) -> None:
        ours, self.theirs = socket.socketpair()
        self.theirs.setblocking(False)
        self.said: list[tuple[int, bytes]] = []
        self.line = Line(ours, lambda kind, said: self.said.append((kind, said)), lambda: None)
        self.line.inbox = inbox

    async def send(self, data: bytes, *, piece: int) -> None:
        loop = asyncio.get_running_loop()
        for start in range(0, len(data), piece):
            await loop.sock_sendall(self.theirs, data[start : start + piece])
        self.theirs.close()


async def until_over(line: Line) -> None:
    for _ in range(3000):
        if line.over:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it is not over")


async def taken(inbox: Inbox) -> bytes:
    got = b""
    while chunk := await inbox.read():
        got += chunk
    return got


def frame(kind: int, words: bytes) -> bytes:
    return WARDENS.pack(kind, len(words)) + words


@pytest.mark.parametrize("piece", [1, 7, 65536])
@pytest.mark.parametrize("seed", range(5))
async def test_frames_in_frames_wherever_they_are_cut(piece: int, seed: int) -> None:
    chance = random.Random(seed)
    output = [chance.randbytes(chance.choice([1, 8, 9, 500])) for _ in range(40)]
    inner = b"".join(frame(Answer.OUTPUT, part) for part in output)
    inner += frame(Answer.END, b"") + frame(Answer.REPORT, b"ended exit 0\n")
    cuts = sorted(chance.sample(range(1, len(inner)), 40))
    parts = [inner[a:b] for a, b in zip([0, *cuts], [*cuts, len(inner)], strict=True)]
    inbox = Inbox()
    ends = Ends(inbox)
    sending = asyncio.create_task(
        ends.send(b"".join(HEADER.pack(1, len(part)) + part for part in parts), piece=piece)
    )
    assert await taken(inbox) == b"".join(output)
    await sending
    await until_over(ends.line)
    assert ends.said == [(Answer.END, b""), (Answer.REPORT, b"ended exit 0\n")]
    await ends.line.close()


async def test_output_of_nobody_ends_a_line() -> None:
    """Where no program runs, somebody else has written."""
    ends = Ends(None)
    data = frame(Answer.OUTPUT, b"x")
    await ends.send(HEADER.pack(1, len(data)) + data, piece=99)
    await until_over(ends.line)
    assert ends.said == []
    await ends.line.close()


async def test_what_nobody_takes_is_not_read_without_end() -> None:
    inbox = Inbox()
    ends = Ends(inbox)
    data = frame(Answer.OUTPUT, bytes(8 << 20))
    sending = asyncio.create_task(ends.send(HEADER.pack(1, len(data)) + data, piece=1 << 20))
    for _ in range(3000):
        await asyncio.sleep(0.01)
        if inbox.stalled:
            break
    assert (inbox.stalled, sending.done()) == (True, False)
    inbox.give_up()
    await sending
    await until_over(ends.line)
    assert len(await taken(inbox)) < 3 << 20
    await ends.line.close()


async def test_what_is_begun_is_sent_although_its_sender_is_cancelled() -> None:
    ends = Ends(None)
    ends.line.post(b"head", bytes(4 << 20))
    sending = asyncio.create_task(ends.line.sent())
    await asyncio.sleep(0.01)
    sending.cancel()
    ends.line.post(b"next")
    got = b""
    loop = asyncio.get_running_loop()
    while len(got) < 8 + (4 << 20):
        got += await loop.sock_recv(ends.theirs, 1 << 20)
    assert (got[:4], got[-4:]) == (b"head", b"next")
    ends.theirs.close()
    await until_over(ends.line)
    await ends.line.close()
