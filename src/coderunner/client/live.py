"""A program that somebody talks to while it runs: `/v1/live`, a WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Protocol

from coderunner.cancelling import cancel
from coderunner.capture import Sink
from coderunner.client.address import Address
from coderunner.client.asking import Asked
from coderunner.client.exchange import LONGEST, broken_off, nonsense, understood
from coderunner.client.following import Facts, heard
from coderunner.client.refusals import refusal
from coderunner.client.relay import Relay
from coderunner.client.results import Answer
from coderunner.client.runs import result_of
from coderunner.client.telling import tell
from coderunner.client.transport import needed, unreachable
from coderunner.model import Terminal

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

_PATH = "/v1/live"
_OPEN_S = 10
_CLOSE_S = 2  # for the service to say goodbye, too: it has killed the program then


class Running(Protocol):
    """A program on its way, as far as it can be told something."""

    def resize(self, rows: int, columns: int) -> None: ...


Started = Callable[[Running], None]


async def live_run(
    address: Address,
    asked: Asked,
    stdin: AsyncIterable[bytes] | None,
    sink: Sink | None,
    terminal: Terminal | None,
    started: Started | None,
) -> Answer:
    """What is typed is not looked at before the program runs."""
    program = dict(asked.body)
    # Who types takes longer, so a service has other limits for that. These are a run's.
    program["limits"] = {"wall_ms": asked.wall_ms, **program.get("limits", {})}
    if terminal is not None:
        program["terminal"] = {"rows": terminal.rows, "columns": terminal.columns}
    async with _connected(address) as socket:
        await socket.send(json.dumps(program))
        conversation = _Conversation(socket, stdin, sink, started)
        try:
            return await conversation.listen()
        finally:
            await cancel(conversation.tasks)


class _Conversation:
    def __init__(
        self,
        socket: ClientConnection,
        stdin: AsyncIterable[bytes] | None,
        sink: Sink | None,
        started: Started | None,
    ) -> None:
        self._socket = socket
        self._stdin = stdin
        self._sink = sink
        self._started = started
        self._typing: asyncio.Task[None] | None = None
        self.tasks: list[asyncio.Task[Any]] = []

    async def listen(self) -> Answer:
        relay = Relay()
        async with contextlib.aclosing(self._events()) as events:
            async for name, facts in events:
                if name == "end":
                    answer = understood(lambda end: result_of(end["result"]), facts)
                    break
                if name == "started":
                    self._start()
                for step in heard(relay, name, facts):
                    await tell(self._sink, step)
            else:
                raise broken_off()
        for step in relay.conclude(answer.result.execution):
            await tell(self._sink, step)
        return answer

    def resize(self, rows: int, columns: int) -> None:
        self._say({"type": "resize", "rows": rows, "columns": columns})

    def _start(self) -> None:
        self._typing = asyncio.create_task(self._type())
        self.tasks.append(self._typing)
        if self._started is not None:
            self._started(self)

    async def _type(self) -> None:
        from websockets.exceptions import ConnectionClosed

        async def send(message: bytes | str) -> bool:
            try:
                await self._socket.send(message)
            except ConnectionClosed:  # whoever listens there knows why
                return False
            return True

        if self._stdin is not None:
            async for chunk in self._stdin:
                if not await send(chunk):
                    return
        await send(json.dumps({"type": "eof"}))

    def _say(self, message: Facts) -> None:
        from websockets.exceptions import ConnectionClosed

        async def send() -> None:
            with contextlib.suppress(ConnectionClosed):
                await self._socket.send(json.dumps(message))

        self.tasks.append(asyncio.create_task(send()))

    async def _events(self) -> AsyncGenerator[tuple[str, Facts]]:
        """What the service says. What goes wrong with our input ends it."""
        while True:
            hearing = asyncio.create_task(_hear(self._socket))
            try:
                waiting = {hearing, *([self._typing] if self._typing else [])}
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                if self._typing is not None and self._typing.done():
                    self._typing.result()
                    self._typing = None
                text = await hearing
            finally:
                await cancel([hearing])
            if text is None:
                return
            facts = understood(_object, text)
            yield str(facts.get("type")), facts


async def _hear(socket: ClientConnection) -> str | bytes | None:
    from websockets.exceptions import ConnectionClosed

    try:
        return await socket.recv()
    except ConnectionClosed:
        return None


def _object(text: str | bytes) -> Facts:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("what is said is an object")
    return found


@contextlib.asynccontextmanager
async def _connected(address: Address) -> AsyncIterator[ClientConnection]:
    with needed():
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidHandshake, InvalidStatus

    connecting = connect(
        "ws" + address.url.removeprefix("http") + _PATH,
        additional_headers=address.headers,
        open_timeout=_OPEN_S,
        close_timeout=_CLOSE_S,
        max_size=LONGEST,
        compression=None,
        proxy=None if address.is_loopback else True,
    )
    try:
        socket = await connecting
    except InvalidStatus as error:
        answer = error.response
        headers = {name.lower(): value for name, value in answer.headers.raw_items()}
        raise refusal(answer.status_code, headers, bytes(answer.body or b"")) from None
    except InvalidHandshake as error:
        raise nonsense(str(error)) from error
    except (OSError, EOFError) as error:  # TimeoutError is one of the former
        raise unreachable(address.url, error) from error
    try:
        yield socket
    finally:
        await socket.close()
