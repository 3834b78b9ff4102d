"""What is said to a kernel and heard of it, in Jupyter's protocol."""

from __future__ import annotations

import asyncio
import functools
import secrets
import shutil
import signal
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from coderunner.cancelling import cancel
from coderunner.errors import EngineUnavailable
from coderunner.model import File, Limits, Outcome, Stream
from coderunner.notebook.inside.relay import CHANNELS
from coderunner.notebook.kernel.boxed import BoxedKernel
from coderunner.notebook.kernel.command import Command
from coderunner.notebook.session.collecting import Collecting
from coderunner.notebook.session.messages import is_too_much, says_goodbye, understood
from coderunner.runner import Runner
from coderunner.workspace.root import process_root, release_root

_MOST_MESSAGE = 16 * 1024 * 1024  # whoever sends more is disconnected
_MOST_WAITING = 2 * _MOST_MESSAGE  # bytes of a channel that nobody has read; the kernel waits then
_MOST_MESSAGES = 200  # the same, of messages
_OVERHEAD = 9  # bytes that a frame has on its way, at most
_ASK_AGAIN_S = 0.05
_STARTING_S = 60.0
_LAST_WORDS_S = 1.0  # for the rest of a cell's output, once there is a reply
_LEAVING_S = 5.0  # for a kernel that has been told `exit`
_AFTER_DEATH_S = 0.1  # for what is still on its way

OnOutput = Callable[[Stream, str], Awaitable[None]]


class Conversation:
    """With one kernel, from its start to its end."""

    def __init__(self, runner: Runner, command: Command, limits: Limits) -> None:
        self._kernel = BoxedKernel(runner, command, limits)
        self._by_message = command.by_message
        self._folder: Path | None = None
        self._client: Any = None
        self._closing = False
        self.unreachable = False  # it has hung up on us, or we on it
        self._heard = 0  # messages about cells
        self._telling = False
        self.answered = False  # the cell is over, whether all of it was heard or not
        self._awaited: set[str] = set()  # requests; a reply to any of them ends the cell

    @property
    def alive(self) -> bool:
        return self._kernel.alive and not self._closing

    @property
    def closing(self) -> bool:
        """We have ended it."""
        return self._closing

    @property
    def ended(self) -> asyncio.Task[Outcome]:
        return self._kernel.ended

    async def open(self, files: Sequence[File]) -> None:
        try:
            await self._open(files)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        self._closing = True
        if self._client is not None:
            self._client.stop_channels()
            self._client.context.destroy(linger=0)
            self._client = None
        await self._kernel.end()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
            release_root()

    def interrupt(self) -> None:
        """An interrupt may come when the cell is over and its reply is being sent, which is lost
        then. So we ask for something else: it is answered once the cell is over."""
        if self._by_message and self._client is not None:
            _asked(self._request_interrupt)
        else:
            self._kernel.signal(signal.SIGINT)
        if self._client is not None and (request := _asked(self._client.kernel_info)):
            self._awaited.add(request)

    def _request_interrupt(self) -> str:
        message = self._client.session.msg("interrupt_request", content={})
        self._client.control_channel.send(message)
        return str(message["header"]["msg_id"])

    async def settled(self) -> None:
        """Until the cell that was interrupted is over, though nobody listens to it any more."""
        replying = asyncio.create_task(self._reply(self._awaited))
        try:
            await asyncio.wait({replying, self.ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel([replying])

    async def execute(self, code: str, collecting: Collecting, on_output: OnOutput) -> None:
        """Until the cell is done, or the kernel has ended."""
        ask = functools.partial(self._client.execute, allow_stdin=False, stop_on_error=False)
        request = _asked(ask, code)
        if request is None:
            self.unreachable = True
            await self.close()
            return
        self._awaited = {request}
        self._telling = self.answered = False
        cell = asyncio.create_task(self._cell(request, collecting, on_output))
        try:
            await asyncio.wait({cell, self.ended}, return_when=asyncio.FIRST_COMPLETED)
            if not cell.done():
                await asyncio.wait({cell}, timeout=_AFTER_DEATH_S)
            if cell.done() and not cell.cancelled():  # who closes sockets cancels who reads them
                cell.result()
        finally:
            await cancel([cell])

    async def _open(self, files: Sequence[File]) -> None:
        self._folder = process_root() / f"kernel-{secrets.token_hex(8)}"
        self._folder.mkdir(mode=0o700)
        key = secrets.token_hex(32)
        connection = {
            "transport": "ipc",
            "ip": str(self._folder / "s"),
            **{f"{name}_port": number for number, name in enumerate(CHANNELS, start=1)},
            "signature_scheme": "hmac-sha256",
        }
        await self._kernel.start({**connection, "key": key}, files, most_waiting=_MOST_WAITING)
        if not await self._kernel.listens(_STARTING_S):
            raise await self._why_not()
        self._client = _client({**connection, "key": key.encode()})
        await self._until_it_answers()

    async def _until_it_answers(self) -> None:
        """And what it publishes reaches us: who subscribes late has missed what was before."""
        until = asyncio.get_running_loop().time() + _STARTING_S
        while asyncio.get_running_loop().time() < until and self.alive:
            request = _asked(self._client.kernel_info) or ""
            if await self._client.iopub_channel.socket.poll(_ASK_AGAIN_S * 1000):
                hearing = asyncio.create_task(self._reply({request}))
                await asyncio.wait(
                    {hearing, self.ended},
                    timeout=_STARTING_S,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                await cancel([hearing])
                return
        raise await self._why_not()

    async def _why_not(self) -> EngineUnavailable:
        if self.alive:
            return EngineUnavailable(
                f"the kernel has not answered for {_STARTING_S:g} seconds",
                hint="the machine may be too busy; max_memory_mb may be too little",
            )
        said = (await self.ended).stderr.text.strip()[-1000:]
        return EngineUnavailable(
            f"the kernel ended before it was ready: {said or (await self.ended).ended_by}",
            hint="raise max_memory_mb, or see whether the kernel works outside",
        )

    async def _cell(self, request: str, collecting: Collecting, on_output: OnOutput) -> None:
        hearing = asyncio.create_task(self._hear_all(request, collecting, on_output))
        replying = asyncio.create_task(self._reply(self._awaited))
        try:
            await asyncio.wait({hearing, replying}, return_when=asyncio.FIRST_COMPLETED)
            self.answered = replying.done()
            if self.answered:
                await self._hear_out(hearing)
            if hearing.done():
                hearing.result()
            reply = await replying
            collecting.take("execute_reply", reply)
            if says_goodbye(reply):
                await asyncio.wait({self.ended}, timeout=_LEAVING_S)
        finally:
            await cancel([hearing, replying])

    async def _hear_out(self, hearing: asyncio.Task[None]) -> None:
        """As long as something comes, or somebody is being told of it, who may be slow."""
        before = -1
        while not hearing.done() and (self._telling or self._heard != before):
            before = self._heard
            await asyncio.wait({hearing}, timeout=_LAST_WORDS_S)

    async def _hear_all(self, request: str, collecting: Collecting, on_output: OnOutput) -> None:
        """libzmq hangs up on whoever sends too long a message, and does not call again."""
        left = self._kernel.left("iopub")
        while True:
            following = asyncio.create_task(self._follow(request, collecting, on_output))
            leaving = asyncio.create_task(left.wait())
            try:
                await asyncio.wait({following, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await cancel([following, leaving])
            if not following.cancelled():
                return following.result()
            left.clear()
            if self._closing:
                await asyncio.wait({self.ended})
                return None
            collecting.overwhelmed()
            self._client.iopub_channel.close()
            self._client._iopub_channel = None
            self._client.iopub_channel.start()

    async def _follow(self, request: str, collecting: Collecting, on_output: OnOutput) -> None:
        while True:
            kind, content = await self._hear("iopub", {request}, collecting)
            if kind == "status" and content.get("execution_state") == "idle":
                return
            self._heard += 1
            new = collecting.take(kind, content)
            if new is not None:
                self._telling = True
                await on_output(*new)
                self._telling = False

    async def _reply(self, requests: set[str]) -> dict[str, Any]:
        return (await self._hear("shell", requests, None))[1]

    async def _hear(
        self, channel: str, requests: set[str], collecting: Collecting | None
    ) -> tuple[str, dict[str, Any]]:
        """The next message about a request. What is none, or is about others, is passed over."""
        socket = getattr(self._client, f"{channel}_channel").socket
        while True:
            frames = await socket.recv_multipart()
            size = sum(map(len, frames))
            self._kernel.taken(channel, size + _OVERHEAD * len(frames))
            if is_too_much(frames):
                if collecting is not None:
                    collecting.lost = True
                continue
            message = understood(self._client.session, frames)
            parent = message.get("parent_header")
            if not isinstance(parent, dict) or parent.get("msg_id") not in requests:
                continue
            if collecting is not None:
                collecting.received(size)
            content = message.get("content")
            return str(message.get("msg_type")), content if isinstance(content, dict) else {}


def _asked(ask: Callable[..., str], *args: object) -> str | None:
    """None if there is no connection any more: waiting for one would stop everybody."""
    import zmq

    try:
        return ask(*args)
    except zmq.Again:
        return None


def _client(connection: Any) -> Any:
    import zmq.asyncio
    from jupyter_client.asynchronous.client import AsyncKernelClient

    context = zmq.asyncio.Context()
    context.setsockopt(zmq.MAXMSGSIZE, _MOST_MESSAGE)
    context.setsockopt(zmq.RCVHWM, _MOST_MESSAGES)
    context.setsockopt(zmq.SNDTIMEO, 0)
    client = AsyncKernelClient(context=context)
    client.load_connection_info(connection)
    client.start_channels(stdin=False, hb=False)
    return client
