"""Where a runner lives: in one event loop of one process, the first that uses it."""

from __future__ import annotations

import asyncio
import os

from coderunner.errors import InvalidInput


class Home:
    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = os.getpid()

    def enter(self) -> None:
        """Raise unless this is it."""
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
