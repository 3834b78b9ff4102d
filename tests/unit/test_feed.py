"""A pipe between two tasks: what is written is read, and neither waits for somebody who is gone."""

from __future__ import annotations

import asyncio

import pytest

from coderunner.feed import Feed

pytestmark = pytest.mark.unit

FULL = b"x" * (64 * 1024)


async def test_what_is_written_is_read() -> None:
    feed = Feed()
    assert await feed.put(b"one ")
    assert await feed.put(b"two")
    feed.close()
    assert [chunk async for chunk in feed.listen()] == [b"one two"]


async def test_who_reads_waits_for_more() -> None:
    feed = Feed()
    heard = asyncio.create_task(_all(feed))
    for _ in range(3):
        await feed.put(b"x")
        await asyncio.sleep(0)
    feed.close()
    assert await heard == b"xxx"


async def test_who_writes_waits_while_it_is_full() -> None:
    feed = Feed()
    await feed.put(FULL)
    second = asyncio.create_task(feed.put(b"more"))
    await asyncio.sleep(0.01)
    assert not second.done()
    listening = feed.listen()
    assert await anext(listening) == FULL
    assert await second
    assert await anext(listening) == b"more"
    await listening.aclose()


async def test_nobody_waits_for_a_reader_who_is_gone() -> None:
    feed = Feed()
    await feed.put(FULL)
    second = asyncio.create_task(feed.put(b"more"))
    await asyncio.sleep(0)
    feed.nobody_listens()
    assert not await second
    assert not await feed.put(b"still more")


async def test_a_reader_that_stops_in_the_middle_is_gone() -> None:
    feed = Feed()
    await feed.put(b"one")
    listening = feed.listen()
    await anext(listening)
    await listening.aclose()
    assert not await feed.put(b"two")


async def _all(feed: Feed) -> bytes:
    return b"".join([chunk async for chunk in feed.listen()])
