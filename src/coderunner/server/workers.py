"""What is kept ready for each language: started with the service, ended when nobody needs it.

A worker is the engine's: an interpreter that has started, with boxes around it, or a container.
Here is only known who was used when. Whatever becomes of a worker, a run never waits for it, and
never fails because of it: an engine starts anew what it does not have.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Coroutine, Iterator
from typing import Any, TypedDict

from coderunner.answers import WorkerState
from coderunner.cancelling import cancel
from coderunner.errors import CodeRunnerError, ToolchainMissing
from coderunner.model import Directory, Limits
from coderunner.runner import Runner
from coderunner.settings.server import ServerSettings

_log = logging.getLogger(__name__)
DIRECTORY: Directory = "/tmp"  # of what the simple endpoints run


class _Kind(TypedDict):
    """Of runs that a worker is for."""

    limits: Limits
    directory: Directory


class Worker:
    def __init__(self, language: str) -> None:
        self.language = language
        self.last_used = time.monotonic()
        self.busy = 0
        self.stopped = False
        self.warm = False  # the engine has something that it can tell us of

    def is_idle(self, seconds: float) -> bool:
        return not self.busy and time.monotonic() - self.last_used >= seconds


class Workers:
    def __init__(self, runner: Runner, settings: ServerSettings, limits: Limits) -> None:
        self._runner = runner
        self._settings = settings
        self._kind: _Kind = {"limits": limits, "directory": DIRECTORY}
        self._workers: dict[str, Worker] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Those that are wanted from the start; and whoever looks after them."""
        wanted = self._settings.prestart
        for language in self._all() if wanted == "all" else wanted:
            await self._start(self._runner.languages.get(language).name)
        self._in_background(self._look_after())

    def _all(self) -> list[str]:
        return [language.name for language in self._runner.languages]

    async def _start(self, language: str) -> None:
        worker = Worker(language)
        try:
            await self._warm_up(worker)
        except ToolchainMissing as error:  # which is no reason not to serve the others
            _log.warning("%s", error, extra={"language": language})
        else:
            self._workers[language] = worker

    async def close(self) -> None:
        await cancel(self._tasks)

    @contextlib.contextmanager
    def use(self, language: str) -> Iterator[None]:
        """Around each run."""
        worker = self._workers.setdefault(language, Worker(language))
        worker.busy += 1
        if worker.stopped:
            worker.stopped = False
            _log.info("a worker starts again", extra={"language": language})
            self._in_background(self._warm_up_again(worker))
        try:
            yield
        finally:
            worker.busy -= 1
            worker.last_used = time.monotonic()

    async def states(self) -> dict[str, WorkerState]:
        """By language, `running` or `stopped`, as it is now."""
        return {
            name: "running" if await self._runs(worker) else "stopped"
            for name, worker in self._workers.items()
        }

    async def warm(self) -> set[str]:
        """The languages with something that has started already."""
        workers = [worker for worker in self._workers.values() if worker.warm]
        return {worker.language for worker in workers if await self._runs(worker)}

    @property
    def in_use(self) -> set[str]:
        return set(self._workers)

    async def _runs(self, worker: Worker) -> bool:
        if worker.stopped:
            return False
        if not worker.warm:
            return True
        return await self._runner.is_warm(worker.language, **self._kind)

    async def _warm_up(self, worker: Worker) -> None:
        worker.warm = await self._runner.warm_up(worker.language, **self._kind)
        _log.info("a worker has started", extra={"language": worker.language})

    async def _warm_up_again(self, worker: Worker) -> None:
        try:
            await self._warm_up(worker)
        except CodeRunnerError as error:  # the run itself will tell its caller
            _log.warning("a worker did not start: %s", error)

    async def _look_after(self) -> None:
        while True:
            await asyncio.sleep(self._settings.check_seconds)
            try:
                for worker in list(self._workers.values()):
                    await self._look_at(worker)
                # What callers with other limits have had, and compilers.
                await self._runner.engine.let_go_of_idle(self._settings.idle_seconds)
            except CodeRunnerError as error:
                _log.warning("workers cannot be looked after: %s", error)

    async def _look_at(self, worker: Worker) -> None:
        if worker.stopped or not worker.is_idle(self._settings.idle_seconds):
            return
        worker.stopped = True
        await self._runner.cool_down(worker.language, **self._kind)
        _log.info("an idle worker was ended", extra={"language": worker.language})

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
