"""Frames, as they come from the daemon and, inside, from a warden: see `warden/warden.h`."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum

WARDENS = struct.Struct("<II")  # kind, size


class Word(IntEnum):
    """The kinds of frames that go to a warden."""

    GO = 1
    STDIN = 2
    STDIN_END = 3
    DONE = 4


class Answer(IntEnum):
    """The kinds of frames that come from one."""

    HEARD = 1
    OUTPUT = 2
    FILES = 3
    END = 4
    DEAF = 5
    REPORT = 6
    WIPED = 7


def head(word: Word, size: int = 0) -> bytes:
    return WARDENS.pack(word, size)


class Frames:
    """Cuts a stream into the pieces of its frames, as far as they have come."""

    def __init__(self, head: struct.Struct) -> None:
        """Of two numbers: a kind, and a size."""
        self._head = head
        self._begun = b""  # of a head
        self._kind = 0
        self._left = 0

    def cut(self, data: bytes | memoryview) -> Iterator[tuple[int, memoryview, bool]]:
        """Kind, piece, and whether its frame ends with it."""
        rest = memoryview(data)
        while rest:
            if self._left:
                piece, rest = rest[: self._left], rest[self._left :]
                self._left -= len(piece)
                yield self._kind, piece, not self._left
                continue
            missing = self._head.size - len(self._begun)
            self._begun, rest = self._begun + bytes(rest[:missing]), rest[missing:]
            if len(self._begun) == self._head.size:
                (self._kind, self._left), self._begun = self._head.unpack(self._begun), b""
                if not self._left:
                    yield self._kind, rest[:0], True
