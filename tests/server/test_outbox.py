"""What waits for a reader who may be slow."""

from __future__ import annotations

import asyncio
import sys

import pytest

from coderunner.model import Stream
from coderunner.server.outbox import Event, Outbox

pytestmark = pytest.mark.unit

OUT, ERR = Stream.STDOUT, Stream.STDERR
MOST = 10_000


async def taken(outbox: Outbox) -> list[Event]:
    outbox.close()
    return [event async for event in outbox.events()]


async def test_in_the_order_in_which_it_came() -> None:
    outbox = Outbox(MOST)
    outbox.tell("started", n=1)
    outbox.printed(OUT, b"a")
    outbox.printed(OUT, b"b")
    outbox.printed(ERR, b"c")
    outbox.printed(OUT, b"d")
    outbox.tell("end")
    assert await taken(outbox) == [
        {"type": "started", "n": 1},
        {"type": "stdout", "data": "ab"},
        {"type": "stderr", "data": "c"},
        {"type": "stdout", "data": "d"},
        {"type": "end"},
    ]


async def test_characters_in_pieces() -> None:
    outbox = Outbox(MOST)
    outbox.printed(OUT, "€".encode()[:1])
    outbox.printed(ERR, b"between")
    outbox.printed(OUT, "€".encode()[1:] + b"\xe2")
    outbox.finished(OUT)
    events = await taken(outbox)
    assert "".join(e["data"] for e in events if e["type"] == "stdout") == "€\ufffd"


async def test_what_there_is_no_room_for() -> None:
    outbox = Outbox(MOST)
    outbox.printed(OUT, b"kept \xe2")
    outbox.printed(OUT, b"x" * MOST)
    outbox.printed(ERR, b"short, but later")  # who has missed something gets no more in between
    outbox.tell("end")
    assert await taken(outbox) == [
        {"type": "stdout", "data": "kept "},
        {"type": "dropped", "stream": "stdout", "bytes": MOST + 1},  # and half a character
        {"type": "dropped", "stream": "stderr", "bytes": 16},
        {"type": "end"},
    ]


async def test_who_has_caught_up_gets_all_again() -> None:
    outbox = Outbox(MOST)
    events = outbox.events()
    outbox.printed(OUT, b"x" * MOST)
    assert (await anext(events))["type"] == "dropped"
    outbox.printed(OUT, b"again")
    assert await anext(events) == {"type": "stdout", "data": "again"}
    await events.aclose()


async def test_a_reader_waits_for_more() -> None:
    outbox = Outbox(MOST)
    reading = asyncio.ensure_future(anext(outbox.events()))
    await asyncio.sleep(0)
    assert not reading.done()
    outbox.printed(OUT, b"at last")
    assert (await reading)["data"] == "at last"


async def test_many_small_pieces_take_no_more_room_than_few_large_ones() -> None:
    outbox = Outbox(MOST)
    for n in range(100_000):
        outbox.printed(OUT if n % 2 else ERR, b"x")
    assert sys.getsizeof(outbox._entries) < MOST
    events = await taken(outbox)
    assert len(events) < 60
    kept = sum(len(e["data"]) for e in events if "data" in e)
    assert kept + sum(e["bytes"] for e in events if "bytes" in e) == 100_000
