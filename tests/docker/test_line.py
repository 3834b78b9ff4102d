"""One stream of a container, however it is cut into pieces on its way."""

from __future__ import annotations

import asyncio
import random
import socket

import pytest

from coderunner.engines.docker.hijacked import HEADER
from coderunner.engines.docker.line import Line

pytestmark = pytest.mark.unit

TOKEN = b"ab" * 15 + b"ac"  # begins like itself, again and again


async def heard(pieces: list[bytes], *, frames: int) -> tuple[bytes, bytes, bool]:
    """What a reader gets, what the warden says, and whether it has."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    said = bytearray()
    line = Line(ours, TOKEN, said.extend, lambda: None)

    async def send() -> None:
        loop = asyncio.get_running_loop()
        for piece in pieces:
            framed = HEADER.pack(1, len(piece)) + piece
            for start in range(0, len(framed), frames):
                await loop.sock_sendall(theirs, framed[start : start + frames])
        theirs.close()

    sending = asyncio.create_task(send())
    got = b""
    while chunk := await line.read():
        got += chunk
    await sending
    await line.over.wait()
    await line.close()
    return got, bytes(said), line.marked


@pytest.mark.parametrize("frames", [1, 7, 65536])
@pytest.mark.parametrize("seed", range(5))
async def test_the_token_is_found_wherever_it_is_cut(frames: int, seed: int) -> None:
    chance = random.Random(seed)
    output = b"".join(chance.choice([b"ab", b"a", b"\0", TOKEN[:-1]]) for _ in range(200))
    whole = output + TOKEN + b"ended exit 0\n"
    cuts = sorted(chance.sample(range(1, len(whole)), 40))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert await heard(pieces, frames=frames) == (output, b"ended exit 0\n", True)


async def test_a_line_that_ends_without_a_word() -> None:
    assert await heard([b"hello", TOKEN[:5]], frames=3) == (b"hello" + TOKEN[:5], b"", False)


async def test_what_nobody_takes_is_not_read_without_end() -> None:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    line = Line(ours, TOKEN, lambda data: None, lambda: None)
    data = HEADER.pack(1, 8 << 20) + bytes(8 << 20)
    sending = asyncio.create_task(asyncio.get_running_loop().sock_sendall(theirs, data))
    for _ in range(3000):
        await asyncio.sleep(0.01)
        if line.stalled:
            break
    assert (line.stalled, sending.done()) == (True, False)
    line.give_up()
    await sending
    theirs.close()
    await line.over.wait()
    taken = 0
    while chunk := await line.read():
        taken += len(chunk)
    assert taken < 3 << 20
    await line.close()
