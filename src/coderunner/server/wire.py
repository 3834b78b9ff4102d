"""HTTP as it comes in, with an end to all that is no body: heads, trailers, chunk extensions.

What parses it puts no end to those. A single header that goes on and on would be copied for every
piece of it that comes, until the service does nothing else; and who sends a head byte by byte would
be waited for for ever. Nobody has been let in at this point, so anybody could.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST_BYTES = 64 * 1024  # in a row
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Connection: close\r\nContent-Length: 0\r\n\r\n"
)


class BoundedHttp(HttpToolsProtocol):
    head_s = 30.0

    @classmethod
    def of(cls, head_s: float) -> type[BoundedHttp]:
        """One that waits so long for a head: uvicorn wants a class."""
        return type(cls.__name__, (cls,), {"head_s": head_s})

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._no_body = 0  # bytes in a row
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._no_body += len(data)
        super().data_received(data)
        if self._no_body > MOST_BYTES and not self.transport.is_closing():
            self._refuse()

    def on_message_begin(self) -> None:
        self._no_body = 0
        self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._no_body = 0
        self._wait_no_more()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._no_body = 0
        super().on_body(body)

    def _refuse(self) -> None:
        """As far as one can still say so: an answer may have begun."""
        if self._is_answering():
            self.transport.abort()
            return
        self.transport.write(_TOO_LARGE)
        self.transport.close()

    def _wait(self) -> None:
        self._wait_no_more()
        self._waiting = self.loop.call_later(self.head_s, self._give_up)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        if not self._is_answering():
            self.transport.close()

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # which uvicorn says is always there
        return cycle is not None and not cycle.response_complete
