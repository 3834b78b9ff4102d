"""Where a runner lives: in one event loop of one process, the first that uses it, until it is
closed."""

from __future__ import annotations

import asyncio
import os

from coderunner.errors import InvalidInput


class Home:
    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = os.getpid()
        self._closed = False

    def enter(self) -> None:
        """Raise unless this is it."""
        self._check()
        if self._closed:
            raise InvalidInput(
                "this runner is closed, and runs nothing any more",
                hint="use it inside its `async with`, or make another Runner",
            )

    def leave(self) -> None:
        """Nobody enters any more. Leaving twice is fine."""
        self._check()
        self._closed = True

    def _check(self) -> None:
        loop = asyncio.get_running_loop()
        if self._pid != os.getpid():
            raise InvalidInput(
                "this runner was made before a fork, and is the parent's",
                hint="make a Runner in the child",
            )
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise InvalidInput(
                "this runner was used in another event loop, and lives there",
                hint="make a Runner in each event loop, or call coderunner.run",
            )

    @property
    def is_lost(self) -> bool:
        """Nothing can be awaited there any more: the loop is closed, or another process's."""
        return self._pid != os.getpid() or (self._loop is not None and self._loop.is_closed())
