"""Turns: so many at once, so many waiting, one of each client after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from coderunner.server.problems import Problem
from coderunner.server.slots import Slots

pytestmark = pytest.mark.unit


class Crowd:
    """Clients that take a turn and keep it until they are told to go."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.order: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._go = asyncio.Semaphore(0)

    def comes(self, client: str) -> asyncio.Task[None]:
        task = asyncio.create_task(self._stay(client))
        self.tasks.append(task)
        return task

    async def _stay(self, client: str) -> None:
        async with self.slots.slot(client):
            self.order.append(client)
            await self._go.acquire()

    async def one_goes(self) -> None:
        self._go.release()
        await _settle()


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@asynccontextmanager
async def crowd(
    most: int = 1, queue: int = 10, per_client: int = 10, wait_s: float = 30
) -> AsyncIterator[Crowd]:
    found = Crowd(Slots(most, queue, per_client, wait_s))
    yield found
    for task in found.tasks:
        task.cancel()
    await asyncio.gather(*found.tasks, return_exceptions=True)
    assert (found.slots.running, found.slots.waiting) == (0, 0)


async def test_no_more_than_so_many_at_once() -> None:
    async with crowd(most=2) as clients:
        for name in "abc":
            clients.comes(name)
        await _settle()
        assert clients.order == ["a", "b"]
        assert (clients.slots.running, clients.slots.waiting) == (2, 1)
        await clients.one_goes()
        assert clients.order == ["a", "b", "c"]


async def test_who_sends_much_gets_no_more_turns_than_others() -> None:
    async with crowd() as clients:
        for name in ("many", "many", "many", "many", "one", "two"):
            clients.comes(name)
        await _settle()
        for _ in range(6):
            await clients.one_goes()
        assert clients.order == ["many", "many", "one", "two", "many", "many"]


async def test_a_full_queue_is_said_at_once_and_when_to_come_again() -> None:
    async with crowd(queue=1) as clients:
        clients.comes("a")
        clients.comes("b")
        await _settle()
        with pytest.raises(Problem) as refused:
            await clients.comes("c")
        assert refused.value.status_code == 503
        assert int((refused.value.headers or {})["Retry-After"]) >= 1


async def test_nobody_waits_for_ever() -> None:
    async with crowd(wait_s=0.01) as clients:
        clients.comes("a")
        await _settle()
        with pytest.raises(Problem, match="no turn within"):
            await clients.comes("b")
        assert clients.slots.waiting == 0


async def test_one_client_holds_only_so_many() -> None:
    async with crowd(per_client=2) as clients:
        clients.comes("a")
        clients.comes("a")
        await _settle()
        with pytest.raises(Problem) as refused:
            await clients.comes("a")
        assert refused.value.status_code == 429
        clients.comes("b")
        await _settle()
        assert clients.slots.waiting == 2


async def test_who_goes_while_waiting_leaves_the_place_to_others() -> None:
    async with crowd() as clients:
        clients.comes("a")
        gone = clients.comes("b")
        clients.comes("c")
        await _settle()
        gone.cancel()
        await _settle()
        assert clients.slots.waiting == 1
        await clients.one_goes()
        assert clients.order == ["a", "c"]


async def test_who_goes_in_the_moment_of_the_turn_passes_it_on() -> None:
    async with crowd() as clients:
        first = clients.comes("a")
        second = clients.comes("b")
        clients.comes("c")
        await _settle()
        first.cancel()
        await asyncio.sleep(0)  # the turn is b's by now, and b does not know yet
        second.cancel()
        await _settle()
        assert clients.order == ["a", "c"]
