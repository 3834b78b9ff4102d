"""Handing work over to the event loop in the background, from another one."""

from __future__ import annotations

import asyncio
import threading

import pytest

from coderunner.background import background

pytestmark = pytest.mark.unit


async def test_work_is_done_in_the_other_loop() -> None:
    async def where() -> tuple[int, asyncio.AbstractEventLoop]:
        return threading.get_ident(), asyncio.get_running_loop()

    thread, loop = await background().hand_over(where())
    assert thread != threading.get_ident()
    assert loop is not asyncio.get_running_loop()


async def test_what_it_raises_comes_back() -> None:
    async def fail() -> None:
        raise LookupError("not there")

    with pytest.raises(LookupError, match="not there"):
        await background().hand_over(fail())


async def test_a_cancellation_waits_for_the_cleaning_up() -> None:
    begun, steps = threading.Event(), []

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.1)
            steps.append("cleaned up")

    task = asyncio.create_task(background().hand_over(work()))
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == ["cleaned up"]


async def test_a_second_cancellation_changes_nothing() -> None:
    begun, steps = threading.Event(), []

    async def stubborn() -> None:
        begun.set()
        for step in ("first", "second"):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                steps.append(step)
        steps.append("done")

    task = asyncio.create_task(background().hand_over(stubborn()))
    await asyncio.to_thread(begun.wait, 10)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0.1)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == ["first", "second", "done"]


async def test_one_that_is_cancelled_before_it_begins_never_does() -> None:
    task = asyncio.create_task(background().hand_over(asyncio.sleep(60)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
