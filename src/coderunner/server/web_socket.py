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
    def send_receive_event_to_app(self) -> None:
        """Text that is none ends the connection, and is nothing for our log."""
        if self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            self._fail(CloseCode.INVALID_DATA, "not UTF-8")
        else:
            super().send_receive_event_to_app()

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
        else:
            self._fail(CloseCode.POLICY_VIOLATION, f"more than {_MOST_PARTS} parts")

    def _fail(self, code: CloseCode, reason: str) -> None:
        self.frames = []
        if not self.close_sent:
            self.conn.fail(code, reason)
            self.handle_parser_exception()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
