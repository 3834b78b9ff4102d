"""WebSockets, as uvicorn serves them, with an end to all that a peer could make us keep.

Nothing of what it sends without reading our answers piles up here, how many parts a message has is
bounded as its length is, and one that does not read is not waited for when the connection ends.
"""

from __future__ import annotations

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

_MOST_PARTS = 1024
_LEAVING_S = 10.0  # for a peer to read the last of it


class BoundedWebSocket(WebSocketsSansIOProtocol):
    def handle_ping(self) -> None:
        """Whoever does not read gets no more pongs: the last one would do."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._leave()

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if message["type"] == "websocket.close":
            self._leave()

    def _leave(self) -> None:
        """To close a transport is to wait until all is read, however long that takes."""
        self.loop.call_later(_LEAVING_S, self.transport.abort)

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < _MOST_PARTS:
            super().handle_cont(event)
        elif not self.close_sent:
            self.frames = []
            self.conn.fail(CloseCode.POLICY_VIOLATION, f"more than {_MOST_PARTS} parts")
            self.handle_parser_exception()
