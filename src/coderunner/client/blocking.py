"""`Client`: for callers who block."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Self, TypeVar

from typing_extensions import Unpack

from coderunner.answers import HealthAnswer, LanguageAnswer
from coderunner.client import asking, calls, runs, transport
from coderunner.client.address import Address
from coderunner.client.exchange import patiently
from coderunner.client.sessions import SessionOptions, SessionTalks
from coderunner.client.steps import (
    Compiled,
    Ended,
    Head,
    Missed,
    More,
    Pause,
    Send,
    Step,
    Talk,
    Tell,
)
from coderunner.errors import EngineUnavailable
from coderunner.judge import ExecutionRequest, ExecutionResult, View
from coderunner.model import Program, Result, Stream
from coderunner.notebook.session.result import CellResult

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
Listener = Callable[[Stream, bytes], object]
"""Is called with what a program prints, as it comes, in the caller's thread. If it has a method
`missed(stream, count)` that is told of bytes that are lost, `ended(stream)` of the end."""


OnOutput = Callable[[Stream, str], object]


class Client:
    """A service that runs programs. It may be used from many threads."""

    def __init__(self, url: str, token: str | None = None, *, retry_s: float = 30.0) -> None:
        """Without a token, that of CODERUNNER_TOKEN, if there is one. A service that is too busy
        is asked again, for at most `retry_s` seconds."""
        self._address = Address.of(url, token)
        self._retry_s = retry_s
        self._http: httpx.Client = transport.imported().Client(**transport.options(self._address))

    def __repr__(self) -> str:
        return f"Client({self._address.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def run(
        self, code: str | bytes, *, sink: Listener | None = None, **how: Unpack[asking.How]
    ) -> Result:
        """Compile and run code there, as `coderunner.run` does here."""
        return self._run(asking.of_code(code, how), sink)

    def run_program(
        self,
        program: Program,
        *,
        stdin: str | bytes = b"",
        sink: Listener | None = None,
        **beside: Unpack[asking.Beside],
    ) -> Result:
        """The same, as `Runner.run` does here."""
        return self._run(asking.of_program(program, beside, stdin), sink)

    def judge(self, request: ExecutionRequest, *, view: View = View.AUTHOR) -> ExecutionResult:
        """As `coderunner.judge.CodeRunner` does here; but what keeps the code from being judged at
        all is raised."""
        return self.follow(lambda: calls.judge(request, view))

    def session(self, **given: Unpack[SessionOptions]) -> Session:
        """An interpreter that stays. It is started by `with`, or by its first cell."""
        return Session(self, SessionTalks.of(given))

    def languages(self) -> list[LanguageAnswer]:
        return self.follow(calls.languages)

    def health(self) -> HealthAnswer:
        return self.follow(calls.health)

    def _run(self, asked: asking.Asked, sink: Listener | None) -> Result:
        talk = runs.run if sink is None else runs.run_live
        return self.follow(lambda: talk(asked), sink).result

    def follow(self, begin: Callable[[], Talk[T]], sink: Listener | None = None) -> T:
        """Do what a conversation wants done. However it ends, its connection is not left open."""
        talk = patiently(begin, self._retry_s)
        with contextlib.closing(talk), _Conversation(self._http, self._address, sink) as doing:
            came: Head | bytes | None = None
            while True:
                try:
                    step = talk.send(came)
                except StopIteration as end:
                    result: T = end.value
                    return result
                came = doing.do(step)


class Session:
    """Cells run one after the other; what one leaves, the next one finds. As
    `coderunner.notebook.Session`, but there."""

    def __init__(self, client: Client, talks: SessionTalks) -> None:
        self._client = client
        self._talks = talks

    def __enter__(self) -> Self:
        self._client.follow(self._talks.open)
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc_info: object) -> None:
        with contextlib.suppress(*[EngineUnavailable] if kind else []):  # that tells the same
            self.close()

    def execute(self, code: str, *, on_output: OnOutput | None = None) -> CellResult:
        """Run a cell. `on_output` is called with each piece of stdout and stderr as it comes. What
        interrupts us, interrupts the cell."""
        live = on_output is not None

        def tell(stream: Stream, data: bytes) -> None:
            assert on_output is not None
            on_output(stream, data.decode())

        return self._client.follow(lambda: self._talks.execute(code, live=live), tell)

    def interrupt(self) -> None:
        """As Ctrl-C does, from another thread: the cell that runs ends with a KeyboardInterrupt."""
        self._client.follow(self._talks.interrupt)

    def restart(self) -> None:
        """A fresh interpreter with fresh files, whatever became of the one before."""
        self._client.follow(self._talks.restart)

    def close(self) -> None:
        """End it. Closing it twice is fine."""
        self._client.follow(self._talks.close)


class _Conversation(contextlib.ExitStack):
    def __init__(self, http: httpx.Client, address: Address, sink: Listener | None) -> None:
        super().__init__()
        self._http = http
        self._address = address
        self._sink = sink
        self._coming: Iterator[bytes] = iter(())

    def do(self, step: Step) -> Head | bytes | None:
        match step:
            case Send():
                return self._send(step)
            case More():
                with transport.faults_of_the_way(self._address.url):
                    return next(self._coming, b"")
            case Pause(seconds=seconds):
                time.sleep(seconds)
            case Tell(stream=stream, data=data):
                if self._sink is not None:
                    self._sink(stream, data)
            case Missed(stream=stream, count=count):
                self._tell("missed", stream, count)
            case Ended(stream=stream):
                self._tell("ended", stream)
            case Compiled(said=said):
                self._tell("compiled", said)
        return None

    def _send(self, wanted: Send) -> Head:
        self.close()  # the answer before
        with transport.faults_of_the_way(self._address.url):
            response = self._http.send(transport.request_of(self._http, wanted), stream=True)
        self.callback(response.close)
        self._coming = response.iter_raw()
        return transport.head_of(response)

    def _tell(self, what: str, *facts: object) -> None:
        told = getattr(self._sink, what, None)
        if told is not None:
            told(*facts)
