"""What is finished although we are cancelled meanwhile, however often.

A caller may be cancelled more than once: a timeout while a task group is torn down, a second
Ctrl-C. Whoever then stops waiting for what it has to clean up leaves it behind. So here one waits
to the end, and passes the cancellation on after that.

Only futures are waited for where that can be: unlike tasks, nobody else (`asyncio.run`, when it
leaves) can cancel them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def outlast(
    *futures: asyncio.Future[Any], on_cancel: Callable[[], None] = lambda: None
) -> None:
    """Wait until all are done; what became of them is for the caller to look at. If we were
    cancelled meanwhile, that is raised then."""
    cancelled: asyncio.CancelledError | None = None
    while pending := [future for future in futures if not future.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            cancelled = error
            on_cancel()
    for future in futures:
        if not future.cancelled():
            future.exception()  # or asyncio complains that nobody asked
    if cancelled is not None:
        raise cancelled


async def cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """End these tasks. What cancels us meanwhile is passed on to them: they may be stuck in a
    cleanup of somebody else's."""
    tasks = tuple(tasks)

    def pass_on() -> None:
        for task in tasks:
            task.cancel()

    pass_on()
    await outlast(*tasks, on_cancel=pass_on)


async def in_thread(work: Callable[[], T]) -> T:
    """Do blocking work. It cannot be interrupted, and what it uses must stay until it is done."""
    working = asyncio.get_running_loop().run_in_executor(None, work)
    await outlast(working)
    return working.result()
