"""One job in a container, which nobody else uses meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from coderunner.cancelling import in_thread, outlast
from coderunner.engines.base import Process, Reader
from coderunner.engines.docker.container import Container
from coderunner.engines.docker.daemon import Daemon, is_absent
from coderunner.engines.docker.frames import Answer
from coderunner.engines.docker.inbox import Inbox
from coderunner.engines.docker.profile import ASK_TO_END
from coderunner.engines.docker.returned import Returned
from coderunner.errors import CodeRunnerError, EngineUnavailable, InvalidProgram, StartFailed
from coderunner.model import EndedBy, Exit, Isolation, Job, Stream, Usage

_CHUNK = 64 * 1024
_LATE_S = 10.0  # past its time limit: then it is not the warden's to end it any more
_LOOK_EVERY_S = 1.0
_TOLD_LATE_S = 3
_SHORT_ID = 12  # as `docker ps` shows it
_GONE = "the container of a run was removed, or stopped, by somebody else"


class Running(Process):
    def __init__(
        self,
        daemon: Daemon,
        container: Container,
        job: Job,
        isolation: Isolation,
        returned: Returned,
        on_close: Callable[[Running, Container, bool], Awaitable[None]],
        *,
        stays: bool,  # the container is used again, if nothing goes wrong
        warm: bool,
    ) -> None:
        self.isolation = isolation
        self._daemon = daemon
        self._in = container
        self.container = container.id[:_SHORT_ID]
        self._job = job
        self._stays = stays
        self._warm = warm
        self._returned = returned
        self._report = b""
        self._has_all = False  # of stdout, and of the files
        self._is_deaf = False  # the program has closed its stdin
        self._stdin_ended = False
        self._news = asyncio.Event()
        self._inboxes = {stream: Inbox() for stream in Stream}
        self._on_close = on_close
        self._reason: EndedBy | None = None
        self._asking: asyncio.Task[None] | None = None
        self._since = time.monotonic()
        container.begin(self._inboxes, self._hear)
        self._end = asyncio.create_task(self._watch())
        self._closing: asyncio.Task[None] | None = None

    def _hear(self, kind: int, said: bytes) -> None:
        match kind:
            case Answer.FILES:
                self._returned.keep(said)
                return
            case Answer.END:
                self._has_all = True
                self._inboxes[Stream.STDOUT].end()
            case Answer.REPORT:
                self._report = said
                self._inboxes[Stream.STDERR].end()
            case Answer.DEAF:
                self._is_deaf = True
        self._news.set()

    def reader(self, stream: Stream) -> Reader:
        return self._inboxes[stream]

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        for start in range(0, len(view), _CHUNK):
            if self._is_deaf or self._stdin_ended:
                raise BrokenPipeError("the program has closed its stdin")
            if self._end.done() or any(inbox.ended for inbox in self._inboxes.values()):
                raise BrokenPipeError("the program has ended")
            await self._in.send(view[start : start + _CHUNK])

    def close_stdin(self) -> None:
        # Once it is closed, the container has another job, and this were the end of that one's.
        if not self._stdin_ended and self._closing is None:
            self._stdin_ended = True
            self._in.end_stdin()

    def kill(self, reason: EndedBy = EndedBy.KILLED) -> None:
        if self._reason is None and not self._end.done():
            self._reason = reason
            self._give_up()
            self._asking = asyncio.create_task(self._ask_to_end())

    def _give_up(self) -> None:
        """What comes now waits for nobody."""
        for inbox in self._inboxes.values():
            if self._reason is not None or not inbox.wanted:
                inbox.give_up()

    async def wait(self) -> Exit:
        return await asyncio.shield(self._end)  # a caller that gives up must not take it along

    def workspace_fd(self) -> int:
        return self._returned.fd()

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await outlast(self._closing)
        self._closing.result()

    async def _close(self) -> None:
        try:
            if not self._end.done():
                await self._end_early()
            # A signal that is still on its way would end the container's next job.
            await outlast(self._end, *([self._asking] if self._asking else ()))
        finally:
            self._returned.close()
            await self._on_close(self, self._in, self._stays and self._is_fine)

    async def _end_early(self) -> None:
        if self._stays:
            self.kill()
            return
        self._reason = self._reason or EndedBy.KILLED
        self._give_up()
        await self._daemon.remove(self._in.id)

    @property
    def _is_fine(self) -> bool:
        """Nothing is wrong with the container, whatever became of the job."""
        if self._end.cancelled() or not self._is_reported:
            return False
        return not isinstance(self._end.exception(), EngineUnavailable)

    async def _ask_to_end(self) -> None:
        """By a signal that the warden knows. What it says then has the figures."""
        # gVisor hears of no more than the usual ones, and has no filter.
        asking = signal.SIGTERM if self.isolation is Isolation.VM else ASK_TO_END
        with contextlib.suppress(EngineUnavailable):
            await self._daemon.ask(
                "ending a container", lambda api: api.kill(self._in.id, signal=asking)
            )

    async def _watch(self) -> Exit:
        deadline = self._since + self._job.limits.wall_ms / 1000 + _LATE_S
        asked = False
        while not self._is_reported and not self._in.over:
            now = time.monotonic()
            if any(inbox.stalled and inbox.wanted for inbox in self._inboxes.values()):
                deadline = max(deadline, now + _LATE_S)  # it waits for whoever reads it
            elif self._reason is not None and not asked:
                asked, deadline = True, min(deadline, now + _LATE_S)
            if now > deadline - _LATE_S:
                self._give_up()  # nobody has ever read it
            if now > deadline:
                return await self._end_from_outside()
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY_S):
                    await self._news.wait()
        if not self._is_reported:
            return await self._without_report()
        exit_ = self._exit(self._report.decode().split())
        if self._job.collect:
            await in_thread(self._returned.unpack)
        return exit_

    @property
    def _is_reported(self) -> bool:
        return bool(self._report) and self._has_all

    def _exit(self, words: list[str]) -> Exit:
        match words:
            case ["ended", why, code, number, wall_us, cpu_us, peak_kb]:
                usage = Usage(int(wall_us) / 1000, int(cpu_us) / 1000, int(peak_kb))
                if why == "killed" and self._reason is None:
                    raise EngineUnavailable(_GONE, hint="run it again")
                ended_by = self._reason if self._reason and why == "killed" else EndedBy(why)
                self._in.ran_out_of_memory |= ended_by is EndedBy.MEMORY
                exit_code = int(code) if int(code) >= 0 else None
                return Exit(ended_by, exit_code, int(number) or None, usage, self._warm)
            case ["failed", stage, number]:
                raise self._failure(stage, int(number))
        raise EngineUnavailable(f"the warden of a container said {' '.join(words)[:100]!r}")

    def _failure(self, stage: str, number: int) -> CodeRunnerError:
        why = os.strerror(number)
        if stage == "start":
            return _start_failed(self._job, number, why)
        if stage == "files":
            return InvalidProgram(
                f"the program's files do not fit into its limits: {why}",
                hint="raise disk_mb or files",
            )
        return EngineUnavailable(f"a container could not be set up: {stage}: {why}")

    async def _without_report(self) -> Exit:
        """The warden is dead. Why, only the daemon knows."""
        state = await self._state()
        wall_ms = (time.monotonic() - self._since) * 1000
        # Docker says so of the whole life of a container.
        if state.get("OOMKilled") and not self._in.ran_out_of_memory:
            peak = self._job.limits.memory_mb * 1024
            return Exit(EndedBy.MEMORY, None, signal.SIGKILL, Usage(wall_ms, 0.0, peak))
        if self._reason is not None:
            return Exit(self._reason, None, signal.SIGKILL, Usage(wall_ms, 0.0, 0))
        if self.isolation is Isolation.VM and not await self._was_killed(state):
            # gVisor's kernel lets a program end process 1; the host's does not.
            return Exit(EndedBy.SIGNAL, None, signal.SIGKILL, Usage(wall_ms, 0.0, 0))
        said = f": {state['Error']}" if state.get("Error") else ""
        raise EngineUnavailable(f"{_GONE}{said}", hint="run it again")

    async def _was_killed(self, state: dict[str, Any]) -> bool:
        """Whether somebody has asked the daemon for it."""

        def ask(api: Any) -> bool:
            # By the daemon's clock. It tells of a kill a moment after the end.
            lived = {
                "since": _seconds(state["StartedAt"]),
                "until": _seconds(state["FinishedAt"]) + _TOLD_LATE_S,
            }
            asked = {"container": self._in.id, "event": "kill"}
            return any(True for _ in api.events(**lived, filters=asked))

        return await self._daemon.ask("looking at what happened to a container", ask)

    async def _state(self) -> dict[str, Any]:
        """How the container stopped."""

        def ask(api: Any) -> dict[str, Any]:
            api.wait(self._in.id, timeout=_LATE_S)
            return dict(api.inspect_container(self._in.id)["State"])

        try:
            return await self._daemon.ask("looking at a container that has ended", ask)
        except EngineUnavailable as error:
            if is_absent(error):
                raise EngineUnavailable(_GONE, hint="run it again") from error
            raise

    async def _end_from_outside(self) -> Exit:
        """Its warden does not answer: the container was paused, or the machine is very slow."""

        def end(api: Any) -> dict[str, Any]:
            state = api.inspect_container(self._in.id)["State"]
            api.remove_container(self._in.id, force=True)
            return dict(state)

        state = await self._daemon.ask("ending a container that does not answer", end)
        if self.isolation is Isolation.VM and not state.get("Paused"):
            wall_ms = (time.monotonic() - self._since) * 1000  # the program has stopped process 1
            return Exit(EndedBy.WALL_TIME, None, signal.SIGKILL, Usage(wall_ms, 0.0, 0))
        why = "it was paused by somebody" if state.get("Paused") else "it did not answer in time"
        raise EngineUnavailable(f"a container had to be removed: {why}", hint="run it again")


def _seconds(moment: str) -> int:
    """Its fractions are finer than Python reads them."""
    return int(datetime.fromisoformat(f"{moment[:19]}+00:00").timestamp())


def _start_failed(job: Job, number: int, why: str) -> StartFailed:
    return StartFailed(
        f"cannot start {job.argv[0]!r}: {why}",
        hint="is the file in the image, and is it executable?",
    )
