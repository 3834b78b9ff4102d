"""One event loop in a background thread, shared by every synchronous door.

So a synchronous caller keeps the same spawner warm from call to call, and calls from many threads
run side by side.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from coderunner.runner import Runner

T = TypeVar("T")


class Background:
    """A loop, its thread, and the default runner that lives in it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._runner: Runner | None = None
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="coderunner", daemon=True
        )
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for it. An interrupt cancels it first."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def runner(self) -> Runner:
        """The runner that all synchronous calls share, made when the first one comes."""
        if self._runner is None:
            self._runner = Runner.open()
        return self._runner

    def close(self) -> None:
        if self.pid != os.getpid():
            return  # a forked child has the object but not the thread
        if self._runner is not None:
            self.call(self._runner.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


_background: Background | None = None
_guard = threading.Lock()


def background() -> Background:
    """This process's background loop, started when it is first asked for."""
    global _background
    with _guard:
        if _background is None or _background.pid != os.getpid():
            _background = Background()
            atexit.register(_background.close)
        return _background
