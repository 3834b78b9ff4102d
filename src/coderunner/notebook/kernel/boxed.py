"""A kernel in a box: a job like any other, on the one road."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

from coderunner.cancelling import cancel
from coderunner.model import File, Job, Limits, Outcome, Program, Warm
from coderunner.notebook.inside.relay import START, frame
from coderunner.notebook.kernel.command import Command
from coderunner.notebook.kernel.listeners import Listeners
from coderunner.notebook.kernel.multiplexer import Multiplexer
from coderunner.runner import Runner

_PYTHON = "python"
_RELAY = "_coderunner_relay.py"  # gone before the user's code could see it
_KEPT_BYTES = 64 * 1024  # of what a kernel says before it ends; the rest of its output is cells'
_NO_FLOOD = 10**12  # what goes through the pipes is bounded by cells, not by a session's life


class BoxedKernel:
    """Started once. `ended` is how it ended, or why it could not go on."""

    def __init__(self, runner: Runner, command: Command, limits: Limits) -> None:
        self._runner = runner
        self._command = command
        self._limits = limits
        self._multiplexer = Multiplexer()
        self._listeners = Listeners(self._multiplexer)
        self._running: asyncio.Task[Outcome] | None = None

    @property
    def ended(self) -> asyncio.Task[Outcome]:
        assert self._running is not None, "it was started"
        return self._running

    @property
    def alive(self) -> bool:
        return self._running is not None and not self._running.done()

    async def start(
        self,
        connection: Mapping[str, Any],
        files: Sequence[File] = (),
        *,
        most_waiting: int | None = None,
    ) -> None:
        """Listen where the connection file says, and start the kernel behind that."""
        self._multiplexer.most_waiting = most_waiting
        await self._listeners.open(connection)
        try:
            order = {
                "argv": self._command.argv,
                "env": self._command.environment,
                "connection": {k: _plain(v) for k, v in connection.items()},
            }
            self._multiplexer.send(frame(START, payload=json.dumps(order).encode()))
            self._running = asyncio.create_task(self._run(tuple(files)))
        except BaseException:
            self._listeners.close()
            raise

    async def listens(self, timeout: float | None = None) -> bool:
        """Wait until the kernel does. False if it ends before, or takes longer."""
        ready = asyncio.create_task(self._multiplexer.ready.wait())
        try:
            await asyncio.wait(
                {ready, self.ended}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
            )
            return ready.done()
        finally:
            await cancel([ready])

    def signal(self, number: int) -> None:
        """To the kernel and all that it has started in its process group."""
        self._multiplexer.signal(number)

    def taken(self, channel: str, count: int) -> None:
        self._multiplexer.taken(channel, count)

    def left(self, channel: str) -> asyncio.Event:
        """Set when a client has left a channel."""
        return self._multiplexer.left[channel]

    async def end(self) -> None:
        """With everything in its box. Ending it twice is fine."""
        if self._running is not None:
            await cancel([self._running])

    async def _run(self, files: tuple[File, ...]) -> Outcome:
        try:
            relay = resources.files("coderunner.notebook.inside").joinpath("relay.py")
            main = File(_RELAY, relay.read_bytes())
            async with self._runner.build(Program(_PYTHON, (main, *files))) as build:
                job = build.recipe.run_job(self._own_limits(), build.bundle, self._runner.preload)
                outcome, _ = await self._runner.execute(
                    self._with_kernel(job),
                    (),
                    stdin=self._multiplexer.outgoing(),
                    sink=self._multiplexer,
                )
                return outcome
        finally:
            self._listeners.close()
            await self._multiplexer.close()

    def _own_limits(self) -> Limits:
        return self._limits.but({"output_bytes": _KEPT_BYTES, "flood_bytes": _NO_FLOOD})

    def _with_kernel(self, job: Job) -> Job:
        warm: Warm | None = job.warm if self._command.is_python else None
        return replace(job, mounts=(*job.mounts, *self._command.mounts()), warm=warm)


def _plain(value: Any) -> Any:
    """Connection files have keys as text."""
    return value.decode() if isinstance(value, bytes) else value
