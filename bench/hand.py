"""The same work without us: commands called by hand, bare or in another sandbox."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from bench import bare
from bench.measure import Once
from bench.sandboxes import Commands

_BOXES = 900  # how many numbers there are for sandboxes that need one
_number = itertools.count()


class Hand:
    """A program's way by hand: `refresh` puts its source there, all steps but the last build it,
    the last one runs it."""

    def __init__(self, steps: Sequence[Commands], refresh: Callable[[], None]) -> None:
        *self._building, self._running = steps
        self._refresh = refresh

    def build(self) -> None:
        self._refresh()
        for commands in self._building:
            call(commands)

    def run(self, stdin: bytes = b"") -> bytes:
        return call(self._running, stdin)

    def once(self, prints: bytes) -> Once:
        """Build and run, in this thread: another one would cost the yardstick time."""

        async def once() -> bool:
            self.build()
            check_printed(self.run(), prints)
            return False

        return once

    def in_threads(self, threads: ThreadPoolExecutor, prints: bytes) -> Once:
        """The run alone, in a thread of these, so that there can be several at once."""

        async def once() -> bool:
            loop = asyncio.get_running_loop()
            check_printed(await loop.run_in_executor(threads, self.run), prints)
            return False

        return once


def call(commands: Commands, stdin: bytes = b"") -> bytes:
    """What the main command printed. The one after it is called in any case."""
    number = str(next(_number) % _BOXES)
    before, main, after = (
        [word.replace("{box}", number) for word in argv]
        for argv in (commands.before, commands.main, commands.after)
    )
    if before:
        bare.run(before, commands.env)
    try:
        return bare.run(main, commands.env, stdin)
    finally:
        if after:
            bare.run(after, commands.env)


def check_printed(printed: bytes, expected: bytes) -> None:
    if printed != expected:
        raise bare.RunFailed(f"printed {printed[:100]!r}, expected {expected[:100]!r}")


def cores() -> int:
    return len(os.sched_getaffinity(0))
