"""One event loop in a background thread, shared by every synchronous door.

So a synchronous caller keeps the same spawner warm from call to call, and calls from many threads
run side by side.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

from coderunner.cancelling import outlast
from coderunner.model import MIB
from coderunner.runner import Runner
from coderunner.settings import Settings

T = TypeVar("T")
_STACK = 8 * MIB


class Background:
    """A loop, its thread, and the runners that live in it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._runners: dict[Hashable, Runner] = {}
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="coderunner", daemon=True
        )
        _start(self._thread)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for it. An interrupt cancels it first."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def hand_over(self, work: Coroutine[Any, Any, T]) -> T:
        """The same from another event loop. Who is cancelled meanwhile waits until the work has
        been, too, and has cleaned up."""
        done: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(self._loop.create_task(work))
            tasks[0].add_done_callback(lambda task: _pass_on(task, done))

        def cancel() -> None:
            self._loop.call_soon_threadsafe(lambda: tasks[0].cancel())

        self._loop.call_soon_threadsafe(begin)
        waiting = asyncio.wrap_future(done)
        await outlast(waiting, on_cancel=cancel)
        return waiting.result()

    async def runner(self, settings: Settings | None = None) -> Runner:
        """The runner that all calls with these settings share, made when the first one comes.
        None: those of the environment."""
        key = settings.model_dump_json() if settings else ""
        return self.kept(key, lambda: Runner.open(settings))

    def kept(self, key: Hashable, make: Callable[[], Runner]) -> Runner:
        """The runner of this key, made here when it is first asked for. In the loop."""
        if key not in self._runners:
            self._runners[key] = make()
        return self._runners[key]

    def close(self) -> None:
        if self.pid != os.getpid():
            return  # a forked child has the object but not the thread
        for runner in self._runners.values():
            self.call(runner.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _start(thread: threading.Thread) -> None:
    """With room for Python's parser, which takes a lot of it for deeply nested code. What a server
    has set for its many threads may be too little for this one."""
    before = threading.stack_size(_STACK)
    try:
        thread.start()
    finally:
        threading.stack_size(before)


def _pass_on(task: asyncio.Task[T], done: Future[T]) -> None:
    if task.cancelled():
        done.cancel()
    elif error := task.exception():
        done.set_exception(error)
    else:
        done.set_result(task.result())


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
