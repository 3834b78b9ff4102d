"""Session: an interpreter that stays, in one box."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Mapping
from typing import Self

from coderunner.background import background
from coderunner.cancelling import in_thread
from coderunner.errors import InvalidInput
from coderunner.model import Isolation, Limits, Stream
from coderunner.notebook.kernel.command import Command
from coderunner.notebook.kernel.specs import find_kernel
from coderunner.notebook.model import ErrorType
from coderunner.notebook.session import endings
from coderunner.notebook.session.cell import OnOutput, run_cell
from coderunner.notebook.session.conversation import Conversation
from coderunner.notebook.session.result import CellError, CellResult
from coderunner.runner import Runner
from coderunner.sandbox import Sandbox
from coderunner.sandbox.given import check_seconds
from coderunner.settings import Settings
from coderunner.text import as_bytes

_LIFE_S = 24 * 3600.0


class Session:
    """Cells run one after the other; what one leaves, the next one finds.

    The interpreter starts with the first cell, or with `with`. It may be used from many threads:
    each waits for its turn.
    """

    def __init__(
        self,
        kernel: str = "python3",
        *,
        timeout: float = 30.0,
        max_memory_mb: int = 1024,
        max_output_bytes: int = 1_000_000,
        filesystem: Mapping[str, str | bytes] | None = None,
        idle_seconds: float | None = 1800.0,
        engine: str = "auto",
        limits: Limits | None = None,
        min_isolation: Isolation | str | None = None,
        settings: Settings | None = None,
    ) -> None:
        """`timeout`, in seconds, and `max_output_bytes` are for each cell; memory and all else for
        the session's life. After `idle_seconds` without a cell it ends by itself. `settings` take
        the place of the environment's, and of `engine` and `min_isolation`."""
        if idle_seconds is not None:
            check_seconds("idle_seconds", idle_seconds)
        self.kernel = kernel
        self.timeout = timeout
        self.idle_seconds = idle_seconds
        self.max_output_bytes = max_output_bytes
        self._sandbox = Sandbox(
            timeout,
            max_memory_mb,
            max_output_bytes,
            filesystem=filesystem,
            engine=engine,
            limits=limits,
            min_isolation=min_isolation,
        )
        self._settings = settings or self._sandbox.settings
        self._pid = os.getpid()
        self._command: Command | None = None
        self._conversation: Conversation | None = None
        self._why_dead: CellError | None = None
        self._turn = asyncio.Lock()
        self._running = False
        self._teller: int | None = None  # the thread in which somebody is told of output
        self._closed = False
        self._ending: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "dead" if self._why_dead else "alive"
        state = "not started" if state == "alive" and self._conversation is None else state
        return f"Session({self.kernel!r}, timeout={self.timeout!r}, {state})"

    def __enter__(self) -> Self:
        background().call(self._start())
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await background().hand_over(self._start())
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close_async()

    @property
    def alive(self) -> bool:
        """Whether there is an interpreter to go on with."""
        return self._conversation is not None and self._conversation.alive

    @property
    def isolation(self) -> Isolation:
        """What it runs behind."""
        return background().call(self._isolation())

    def execute(
        self, code: str, *, timeout: float | None = None, on_output: OnOutput | None = None
    ) -> CellResult:
        """Run a cell. `on_output` is called with each piece of stdout and stderr as it comes, in
        another thread."""
        self._check_not_telling()
        return background().call(self._execute(code, timeout, on_output))

    async def execute_async(
        self, code: str, *, timeout: float | None = None, on_output: OnOutput | None = None
    ) -> CellResult:
        """The same for asyncio code. Cancelling it interrupts the cell."""
        self._check_not_telling()
        return await background().hand_over(self._execute(code, timeout, on_output))

    def interrupt(self) -> None:
        """As Ctrl-C does, from another thread: the cell that runs ends with a KeyboardInterrupt."""
        background().call(self._interrupt())

    async def interrupt_async(self) -> None:
        await background().hand_over(self._interrupt())

    def restart(self) -> None:
        """A fresh interpreter with fresh files, whatever became of the one before."""
        self._check_not_telling()
        background().call(self._restart())

    async def restart_async(self) -> None:
        self._check_not_telling()
        await background().hand_over(self._restart())

    def close(self) -> None:
        """End it. Closing it twice is fine."""
        self._check_not_telling()
        background().call(self._close())

    async def close_async(self) -> None:
        self._check_not_telling()
        await background().hand_over(self._close())

    def _at_exit(self) -> None:
        """Before the background ends, which would take the box away from under it."""
        if self._pid == os.getpid():
            self.close()

    # --- in the background's loop ----------------------------------------------------------------

    async def _isolation(self) -> Isolation:
        return await (await self._runner()).isolation()

    async def _runner(self) -> Runner:
        if self._command is None:
            self._command = await in_thread(lambda: find_kernel(self.kernel))
        settings = self._command.settings(self._settings or Settings())
        self._sandbox.limits.check_below(settings.ceiling)
        return await background().runner(settings)

    async def _start(self) -> None:
        async with self._turn:
            await self._begin()

    async def _begin(self) -> Conversation:
        self._check_open()
        if self._conversation is None:
            runner = await self._runner()
            assert self._command is not None, "the runner is for it"
            limits = self._sandbox.limits.but({"wall_ms": int(_LIFE_S * 1000)})
            conversation = Conversation(runner, self._command, limits)
            await conversation.open(self._sandbox.files)
            self._conversation = conversation
            atexit.register(self._at_exit)
        self._wait_for_cells()
        return self._conversation

    async def _execute(
        self, code: str, timeout: float | None, on_output: OnOutput | None
    ) -> CellResult:
        if not isinstance(code, str):
            raise InvalidInput(f"a cell must be text, not {type(code).__name__}")
        as_bytes(code, "the cell")
        timeout = self.timeout if timeout is None else timeout
        check_seconds("timeout", timeout)
        async with self._turn:
            self._check_open()
            if self._why_dead is not None:
                return CellResult(success=False, error=self._why_dead, alive=False)
            conversation = await self._begin()
            self._running = True
            try:
                result = await run_cell(
                    conversation,
                    code,
                    timeout=timeout,
                    max_output_bytes=self.max_output_bytes,
                    limits=self._sandbox.limits,
                    on_output=on_output and self._telling(on_output),
                )
                self._why_dead = None if result.alive else result.error
                return result
            finally:
                self._running = False
                self._wait_for_cells()

    def _telling(self, on_output: OnOutput) -> OnOutput:
        def tell(stream: Stream, text: str) -> None:
            self._teller = threading.get_ident()
            try:
                on_output(stream, text)
            except (SystemExit, KeyboardInterrupt) as error:  # would end the background's loop
                raise RuntimeError(f"on_output has raised {type(error).__name__}") from error
            finally:
                self._teller = None

        return tell

    def _check_not_telling(self) -> None:
        """It would wait for its cell, which waits for it."""
        if self._teller == threading.get_ident():
            raise InvalidInput(
                "on_output cannot use the session whose output it is told",
                hint="call interrupt() there, and anything else after execute()",
            )

    async def _interrupt(self) -> None:
        self._check_open()
        if self._conversation is not None and self._running:
            self._conversation.interrupt()

    async def _restart(self) -> None:
        self._check_open()
        if self._running and self._conversation is not None:
            await self._conversation.close()
        async with self._turn:
            await self._end(None)
            await self._begin()

    async def _close(self) -> None:
        self._closed = True
        if self._pid != os.getpid():
            return  # a forked child has the object, and not what it stands for
        if self._running and self._conversation is not None:
            await self._conversation.close()
        async with self._turn:
            await self._end(None)

    async def _end(self, why: CellError | None) -> None:
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
        atexit.unregister(self._at_exit)
        conversation, self._conversation = self._conversation, None
        self._why_dead = why
        if conversation is not None:
            await conversation.close()

    def _wait_for_cells(self) -> None:
        """If none comes for too long, nobody needs it any more."""
        if self._ending is not None:
            self._ending.cancel()
        if self.idle_seconds is not None and not self._running:
            loop = asyncio.get_running_loop()
            self._ending = loop.call_later(self.idle_seconds, self._tire)

    def _tire(self) -> None:
        task = asyncio.get_running_loop().create_task(self._end_of_idleness())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end_of_idleness(self) -> None:
        async with self._turn:
            if not self._closed and self._conversation is not None:
                why = f"nobody has used it for {self.idle_seconds:g} seconds"
                await self._end(endings.dead(ErrorType.TIMEOUT, why))

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidInput("this session is closed", hint="make another one")
        if self._pid != os.getpid():
            raise InvalidInput(
                "this session was made before a fork, and is the parent's",
                hint="make one in the child",
            )
