"""Parts of ZeroMQ's messages, counted on their way. libzmq takes 64 bytes for each, also for one
that has come in two, and a message of endless parts is never complete."""

from __future__ import annotations

from coderunner.notebook.inside.relay import BrokenProtocol

_MOST_PARTS = 1000  # a kernel's messages have some seven, and one for each buffer
_GREETING = 64  # bytes of it, in the only version whose parts can be counted here
_SIGNATURE = {0: 0xFF, 9: 0x7F, 10: 3}
_MORE, _LONG = 1, 2


class Parts:
    """Of one connection, from its beginning."""

    def __init__(self) -> None:
        self._greeted = 0
        self._head = bytearray()  # of the part that begins
        self._skip = 0  # bytes of the part itself
        self._count = 0

    def feed(self, chunk: bytes) -> None:
        """Raise BrokenProtocol for what no kernel would say."""
        at = self._greet(chunk)
        while at < len(chunk):
            if self._skip:
                step = min(self._skip, len(chunk) - at)
                self._skip -= step
                at += step
                continue
            self._head.append(chunk[at])
            at += 1
            if len(self._head) == (9 if self._head[0] & _LONG else 2):
                self._begin()

    def _greet(self, chunk: bytes) -> int:
        taken = chunk[: _GREETING - self._greeted]
        for place, byte in enumerate(taken, start=self._greeted):
            if byte != _SIGNATURE.get(place, byte):
                raise BrokenProtocol("another protocol than ZeroMQ's")
        self._greeted += len(taken)
        return len(taken)

    def _begin(self) -> None:
        self._skip = int.from_bytes(self._head[1:], "big")
        self._count = self._count + 1 if self._head[0] & _MORE else 0
        self._head.clear()
        if self._count > _MOST_PARTS:
            raise BrokenProtocol("a message of too many parts")
