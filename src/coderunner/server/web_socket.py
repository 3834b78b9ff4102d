"""WebSockets, as uvicorn serves them, with an end to all that a peer could make us keep.

Ten thousand messages that come at once are taken in pieces, and others have their turn in between.
Nothing of what it sends without reading our answers piles up here, how many parts a message has is
bounded as its length is, and one that does not read is not waited for when the connection ends.
"""

from __future__ import annotations

from typing import Any

from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

_PIECE_BYTES = 4096  # less than a thousand messages
_MOST_PARTS = 1024
_LEAVING_S = 10.0  # for a peer to read the last of it


class BoundedWebSocket(WebSocketsSansIOProtocol):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._unparsed = bytearray()
        self._parsing = False

    def data_received(self, data: bytes) -> None:
        self._unparsed += data
        if not self._parsing:
            self._parse()

    async def receive(self) -> ASGIReceiveEvent:
        message = await super().receive()
        self._read_no_more_than_is_parsed()
        return message

    def _parse(self) -> None:
        """A piece, and the next one after everybody else. What is short on the wire may be many
        messages."""
        self._parsing = False
        piece = bytes(self._unparsed[:_PIECE_BYTES])
        del self._unparsed[:_PIECE_BYTES]
        if self.disconnected or self.transport.is_closing():
            self._unparsed.clear()
            return
        super().data_received(piece)
        if self._unparsed:
            self._parsing = True
            self.loop.call_soon(self._parse)
            self._read_no_more_than_is_parsed()
        elif self.read_paused and self.queue.empty():
            self.read_paused = False
            self.transport.resume_reading()

    def _read_no_more_than_is_parsed(self) -> None:
        if self._unparsed and not self.read_paused and not self.transport.is_closing():
            self.read_paused = True
            self.transport.pause_reading()

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

    # Every way in which a connection ends. To close a transport is to wait until all is read.

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if message["type"] == "websocket.close":
            self._leave()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._leave()

    def handle_close(self, event: Frame) -> None:
        super().handle_close(event)
        self._leave()

    def handle_parser_exception(self) -> None:
        super().handle_parser_exception()
        self._leave()

    def eof_received(self) -> None:
        self._leave()

    def _leave(self) -> None:
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
