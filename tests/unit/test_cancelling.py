"""What is finished although we are cancelled meanwhile, however often."""

from __future__ import annotations

import asyncio
import threading

import pytest

from coderunner.cancelling import cancel, in_thread, outlast
from coderunner.engines.linux.client import Spawner

pytestmark = pytest.mark.unit


async def cancel_often(task: asyncio.Task[None]) -> None:
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.sleep(0)
    assert not task.done()


async def test_what_is_waited_for_is_waited_for() -> None:
    futures = [asyncio.get_running_loop().create_future() for _ in range(3)]
    waiting = asyncio.create_task(outlast(*futures))
    await cancel_often(waiting)
    futures[0].set_result(None)
    futures[1].cancel()
    await cancel_often(waiting)
    futures[2].set_exception(ValueError("nobody asks"))
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_who_is_not_cancelled_goes_on() -> None:
    future = asyncio.get_running_loop().create_future()
    future.set_exception(ValueError("for the caller to look at"))
    await outlast(future)
    await outlast()


async def test_a_timeout_around_it_is_still_a_timeout() -> None:
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.02, future.set_result, None)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await outlast(future)
    assert future.done()


async def test_further_cancellations_are_passed_on() -> None:
    received = 0

    async def stubborn() -> None:
        nonlocal received
        while received < 3:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                received += 1

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    ending = asyncio.create_task(cancel([task]))
    for _ in range(2):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not task.done()
        ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert (received, task.done()) == (3, True)


async def test_a_thread_is_waited_for() -> None:
    go_on, done = threading.Event(), threading.Event()

    def work() -> None:
        go_on.wait(30)
        done.set()

    waiting = asyncio.create_task(in_thread(work))
    await cancel_often(waiting)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert done.is_set()


async def test_what_a_thread_says_comes_back() -> None:
    assert await in_thread(lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)


async def test_a_cancellation_that_comes_with_the_greeting_is_not_lost() -> None:
    spawner = object.__new__(Spawner)
    spawner._hello = asyncio.get_running_loop().create_future()
    greeting = asyncio.create_task(spawner._greet())
    await asyncio.sleep(0)
    spawner._hello.set_result(({"op": "hello"}, []))
    greeting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await greeting
