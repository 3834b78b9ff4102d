"""Warm containers: each was used, is as new, and waits for the next job of its kind.

    take ─▶ …a job… ─▶ give_back ─▶ wiped? ─ yes ─▶ idle ─▶ take
                                       └──── no ──▶ removed

A container has one job at a time. Who finds none takes another one that is just being wiped, or
starts one, which is kept afterwards. Of the idle ones those go first that were used longest ago.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from coderunner.cancelling import outlast
from coderunner.engines.docker.container import Container

Remove = Callable[[Container], Awaitable[None]]
_MOST_JOBS = 1000  # then a container is replaced
_WIPED_SOON_S = 1.0  # then another one is started


class Pool:
    """At most `most` are idle at a time."""

    def __init__(self, most: int, remove: Remove) -> None:
        self._most = most
        self._remove = remove
        self._idle: list[Container] = []  # used longest ago first
        self._busy: set[Container] = set()
        self._wiping: dict[asyncio.Task[None], Container] = {}
        self._closed = False

    @property
    def keeps(self) -> bool:
        return self._most > 0

    async def take(self, kind: str) -> Container | None:
        """One of this kind, which is then the caller's alone."""
        until = asyncio.get_running_loop().time() + _WIPED_SOON_S
        while True:
            found = next((one for one in reversed(self._idle) if one.kind == kind), None)
            if found is not None:
                self._idle.remove(found)
                if found.usable:
                    self._busy.add(found)
                    return found
                await self._remove(found)
                continue
            soon = [task for task, one in self._wiping.items() if one.kind == kind]
            left = until - asyncio.get_running_loop().time()
            if not soon or left <= 0:
                return None
            await asyncio.wait(soon, timeout=left, return_when=asyncio.FIRST_COMPLETED)

    def lend(self, container: Container) -> None:
        """One that was started for a job, and is kept afterwards."""
        self._busy.add(container)

    def give_back(self, container: Container) -> None:
        """Its job has ended."""
        self._busy.discard(container)
        task = asyncio.create_task(self._wipe(container))
        self._wiping[task] = container
        task.add_done_callback(lambda _: self._wiping.pop(task, None))

    def give_up(self, container: Container) -> None:
        """It is not to be used any more; the caller removes it."""
        self._busy.discard(container)

    async def add(self, container: Container) -> None:
        """One that has had no job yet, or is as if it had not."""
        container.since = asyncio.get_running_loop().time()
        self._idle.append(container)
        if self._closed:
            await self._drop(self._idle)
        await self._drop(self._idle[: max(0, len(self._idle) - self._most)])

    def of(self, kind: str) -> list[Container]:
        """Those that there are, busy ones too."""
        every = [*self._idle, *self._busy, *self._wiping.values()]
        return [one for one in every if one.kind == kind]

    async def cool(self, kind: str) -> None:
        """Remove the idle ones of this kind."""
        await outlast(*(task for task, one in self._wiping.items() if one.kind == kind))
        await self._drop([one for one in self._idle if one.kind == kind])

    async def cool_idle(self, seconds: float) -> None:
        """Remove those that nobody has used for so long."""
        now = asyncio.get_running_loop().time()
        await self._drop([one for one in self._idle if now - one.since >= seconds])

    async def close(self) -> None:
        self._closed = True
        await outlast(*self._wiping)
        await self._drop(self._idle)

    async def _wipe(self, container: Container) -> None:
        wanted = container.jobs < _MOST_JOBS and not self._closed
        if wanted and await container.wiped():
            await self.add(container)
        else:
            await self._remove(container)

    async def _drop(self, some: Iterable[Container]) -> None:
        some = list(some)
        for one in some:
            self._idle.remove(one)
        for one in some:
            await self._remove(one)
