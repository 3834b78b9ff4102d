"""What is to be told to a reader who may be slow: so much is kept for him, the rest is dropped.

    program ─▶ printed() ─▶ │ so many bytes │ ─▶ events, one after the other

A program never waits for whoever reads it. When there is no more room, what it prints is dropped
until the reader has caught up, and then he is told how much that was.
"""

from __future__ import annotations

import asyncio
import base64
import codecs
from collections import Counter, deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from coderunner.model import Stream

Event = dict[str, Any]
_PER_ENTRY = 256  # bytes that it takes to keep one, however short
_LONGEST = 64 * 1024  # bytes in one event, if they have come one by one


@dataclass(slots=True)
class _Printed:
    stream: Stream
    data: bytearray
    last: bool = False  # nothing more will come of this stream


@dataclass(frozen=True, slots=True)
class _Dropped:
    stream: Stream
    count: int


class Outbox:
    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held = 0
        self._entries: deque[Event | _Printed | _Dropped] = deque()
        self._lost: Counter[Stream] = Counter()
        self._decoders = {
            stream: codecs.getincrementaldecoder("utf-8")(errors="replace") for stream in Stream
        }
        self._over = False
        self._changed = asyncio.Event()

    def tell(self, kind: str, **facts: Any) -> None:
        """Something that no reader may miss."""
        self._own_up()
        self._entries.append({"type": kind, **facts})
        self._changed.set()

    def printed(self, stream: Stream, data: bytes) -> None:
        if self._lost or self._held + len(data) + _PER_ENTRY > self._most:
            self._lost[stream] += len(data)
        else:
            self._keep(stream, data)
        self._changed.set()

    def finished(self, stream: Stream) -> None:
        """What was the beginning of a character will not become a whole one any more."""
        self._own_up()
        self._entries.append(_Printed(stream, bytearray(), last=True))
        self._changed.set()

    def close(self) -> None:
        """The reader gets what is left, and then the end."""
        self._over = True
        self._changed.set()

    async def events(self) -> AsyncGenerator[Event]:
        """For one reader."""
        while True:
            while self._entries or self._lost:
                event = self._next()
                if event is not None:
                    yield event
            if self._over:
                return
            self._changed.clear()
            await self._changed.wait()

    def _keep(self, stream: Stream, data: bytes) -> None:
        last = self._entries[-1] if self._entries else None
        if (
            isinstance(last, _Printed)
            and last.stream is stream
            and len(last.data) + len(data) <= _LONGEST
        ):
            last.data += data
            self._held += len(data)
        else:
            self._entries.append(_Printed(stream, bytearray(data)))
            self._held += len(data) + _PER_ENTRY

    def _own_up(self) -> None:
        """Put down how much was dropped."""
        self._entries += [_Dropped(stream, count) for stream, count in self._lost.items()]
        self._lost.clear()

    def _next(self) -> Event | None:
        if not self._entries:
            self._own_up()
        entry = self._entries.popleft()
        if isinstance(entry, _Printed):
            return self._decoded(entry)
        if isinstance(entry, _Dropped):
            decoder = self._decoders[entry.stream]
            count = entry.count + len(decoder.getstate()[0])  # the beginning of a character
            decoder.reset()
            return {"type": "dropped", "stream": entry.stream.value, "bytes": count}
        return entry

    def _decoded(self, entry: _Printed) -> Event | None:
        """None if there is no whole character yet. What is no text is there as bytes, too."""
        if not entry.last:
            self._held -= len(entry.data) + _PER_ENTRY
        decoder = self._decoders[entry.stream]
        exact = decoder.getstate()[0] + bytes(entry.data)
        text = decoder.decode(bytes(entry.data), final=entry.last)
        if not text:
            return None
        exact = exact[: len(exact) - len(decoder.getstate()[0])]
        event = {"type": entry.stream.value, "data": text}
        if text.encode() != exact:
            event["base64"] = base64.b64encode(exact).decode()
        return event
