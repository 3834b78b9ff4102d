"""`AsyncClient`: for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING, Self, TypeVar

from typing_extensions import Unpack

from coderunner.answers import HealthAnswer, LanguageAnswer
from coderunner.capture import Sink
from coderunner.client import asking, calls, runs, transport
from coderunner.client.address import Address
from coderunner.client.blocking import OnOutput
from coderunner.client.exchange import Patience, patiently
from coderunner.client.live import Started, live_run
from coderunner.client.results import Answer
from coderunner.client.sessions import SessionOptions, SessionTalks
from coderunner.client.steps import Head, More, Pause, Send, Step, Talk
from coderunner.client.telling import tell
from coderunner.errors import Busy, EngineUnavailable
from coderunner.judge import ExecutionRequest, ExecutionResult, View
from coderunner.model import Program, Result, Stream, Terminal
from coderunner.notebook.session.result import CellResult

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


class AsyncClient:
    """A service that runs programs. It lives in the event loop that first uses it. Who is cancelled
    ends what runs there for him.

    A `sink` is what it is for `Runner.run`; if it has a method `missed`, that is told of bytes that
    are lost: `await sink.missed(stream, count)`.
    """

    def __init__(self, url: str, token: str | None = None, *, retry_s: float = 30.0) -> None:
        """Without a token, that of CODERUNNER_TOKEN, if there is one. A service that is too busy
        is asked again, for at most `retry_s` seconds."""
        self._address = Address.of(url, token)
        self._retry_s = retry_s
        self._http: httpx.AsyncClient = transport.imported().AsyncClient(
            **transport.options(self._address)
        )

    def __repr__(self) -> str:
        return f"AsyncClient({self._address.url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def run(
        self, code: str | bytes, *, sink: Sink | None = None, **how: Unpack[asking.How]
    ) -> Result:
        """Compile and run code there, as `coderunner.run` does here."""
        return (await self._run(asking.of_code(code, how), sink)).result

    async def run_program(
        self,
        program: Program,
        *,
        stdin: str | bytes = b"",
        sink: Sink | None = None,
        **beside: Unpack[asking.Beside],
    ) -> Result:
        """The same, as `Runner.run` does here."""
        return (await self.answer(program, stdin=stdin, sink=sink, **beside)).result

    async def answer(
        self,
        program: Program,
        *,
        stdin: str | bytes = b"",
        sink: Sink | None = None,
        **beside: Unpack[asking.Beside],
    ) -> Answer:
        """The same, with what the service says beside the result."""
        return await self._run(asking.of_program(program, beside, stdin), sink)

    async def converse(
        self,
        program: Program,
        *,
        stdin: AsyncIterable[bytes] | None = None,
        sink: Sink | None = None,
        terminal: Terminal | None = None,
        started: Started | None = None,
        **beside: Unpack[asking.Beside],
    ) -> Answer:
        """The same with input that comes while it runs; and maybe in a terminal. `started` gets
        what can be done to it then."""
        asked = asking.of_program(program, beside)
        patience = Patience(self._retry_s)
        while True:
            try:
                return await live_run(self._address, asked, stdin, sink, terminal, started)
            except Busy as busy:
                pause_s = patience.pause_s(busy)
            await asyncio.sleep(pause_s)

    async def judge(
        self, request: ExecutionRequest, *, view: View = View.AUTHOR
    ) -> ExecutionResult:
        """As `coderunner.judge.CodeRunner` does here; but what keeps the code from being judged at
        all is raised."""
        return await self.follow(lambda: calls.judge(request, view))

    def session(self, **given: Unpack[SessionOptions]) -> AsyncSession:
        """An interpreter that stays. It is started by `async with`, or by its first cell."""
        return AsyncSession(self, SessionTalks.of(given))

    async def languages(self) -> list[LanguageAnswer]:
        return await self.follow(calls.languages)

    async def health(self) -> HealthAnswer:
        return await self.follow(calls.health)

    async def _run(self, asked: asking.Asked, sink: Sink | None) -> Answer:
        talk = runs.run if sink is None else runs.run_live
        return await self.follow(lambda: talk(asked), sink)

    async def follow(self, begin: Callable[[], Talk[T]], sink: Sink | None = None) -> T:
        """Do what a conversation wants done. However it ends, its connection is not left open."""
        talk = patiently(begin, self._retry_s)
        doing = _Conversation(self._http, self._address, sink)
        async with doing:
            with contextlib.closing(talk):
                came: Head | bytes | None = None
                while True:
                    try:
                        step = talk.send(came)
                    except StopIteration as end:
                        result: T = end.value
                        return result
                    came = await doing.do(step)


class AsyncSession:
    """Cells run one after the other; what one leaves, the next one finds. As
    `coderunner.notebook.Session`, but there."""

    def __init__(self, client: AsyncClient, talks: SessionTalks) -> None:
        self._client = client
        self._talks = talks

    async def __aenter__(self) -> Self:
        await self._client.follow(self._talks.open)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *exc_info: object) -> None:
        with contextlib.suppress(*[EngineUnavailable] if kind else []):  # that tells the same
            await self.close()

    async def execute(self, code: str, *, on_output: OnOutput | None = None) -> CellResult:
        """Run a cell. `on_output` is called with each piece of stdout and stderr as it comes. Who
        is cancelled has the cell interrupted."""
        live = on_output is not None

        async def tell(stream: Stream, data: bytes) -> None:
            assert on_output is not None
            on_output(stream, data.decode())

        return await self._client.follow(lambda: self._talks.execute(code, live=live), tell)

    async def interrupt(self) -> None:
        """As Ctrl-C does, from another task: the cell that runs ends with a KeyboardInterrupt."""
        await self._client.follow(self._talks.interrupt)

    async def restart(self) -> None:
        """A fresh interpreter with fresh files, whatever became of the one before."""
        await self._client.follow(self._talks.restart)

    async def close(self) -> None:
        """End it. Closing it twice is fine."""
        await self._client.follow(self._talks.close)


class _Conversation(contextlib.AsyncExitStack):
    def __init__(self, http: httpx.AsyncClient, address: Address, sink: Sink | None) -> None:
        super().__init__()
        self._http = http
        self._address = address
        self._sink = sink
        self._coming: AsyncIterator[bytes]

    async def do(self, step: Step) -> Head | bytes | None:
        match step:
            case Send():
                return await self._send(step)
            case More():
                with transport.faults_of_the_way(self._address.url):
                    return await anext(self._coming, b"")
            case Pause(seconds=seconds):
                await asyncio.sleep(seconds)
            case _:
                await tell(self._sink, step)
        return None

    async def _send(self, wanted: Send) -> Head:
        await self.aclose()  # the answer before
        with transport.faults_of_the_way(self._address.url):
            response = await self._http.send(transport.request_of(self._http, wanted), stream=True)
        self.push_async_callback(response.aclose)
        self._coming = response.aiter_raw()
        return transport.head_of(response)
