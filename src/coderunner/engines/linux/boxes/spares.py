"""Boxes made before they are needed, each used once and thrown away.

Setting up a box costs milliseconds; a program that has come before is likely to come again. So
once the same kind of box was asked for twice, a few are kept ready. They are few, and those that
nobody wants for a while are ended.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from .box import Box, Key

if TYPE_CHECKING:
    from .zygote import Zygote

_LEAST, _MOST = 2, 4  # of a kind: as many as were used at once lately, within these bounds
_IN_ALL = 8
_KEEP_SECONDS = 10.0


class Spares:
    def __init__(self) -> None:
        self._boxes: dict[Key, deque[Box]] = {}
        self._asked: dict[Key, int] = {}
        self._last_asked: dict[Key, float] = {}
        self._at_once: dict[Key, int] = {}  # the most that were in use at the same time

    def take(self, key: Key) -> Box | None:
        """A box of this kind, the longest-made first; None if one must be made."""
        self._asked[key] = self._asked.get(key, 0) + 1
        self._last_asked[key] = time.monotonic()
        boxes = self._boxes.get(key)
        return boxes.popleft() if boxes else None

    def in_use(self, key: Key, count: int) -> None:
        """So many boxes of this kind are at work now."""
        self._at_once[key] = max(count, self._at_once.get(key, 0))

    def wants(self, key: Key) -> bool:
        """Whether one more of this kind should be made ahead."""
        of_this_kind = len(self._boxes.get(key, ()))
        return (
            self._asked.get(key, 0) >= 2  # a single run pays for no spare
            and of_this_kind < min(_MOST, max(_LEAST, self._at_once.get(key, 0)))
            and sum(map(len, self._boxes.values())) < _IN_ALL
        )

    def add(self, box: Box) -> None:
        self._boxes.setdefault(box.key, deque()).append(box)

    def drop(self, box: Box) -> bool:
        """Forget a box that died; False if it was none of ours."""
        boxes = self._boxes.get(box.key, ())
        if box not in boxes:
            return False
        self._boxes[box.key].remove(box)
        self._asked[box.key] = 0  # whatever ended it, do not make another at once
        return True

    def made_from(self, zygote: Zygote) -> list[Box]:
        """Those that would end with this interpreter."""
        return [box for boxes in self._boxes.values() for box in boxes if box.zygote is zygote]

    def stale(self, now: float) -> list[Box]:
        """Takes out the boxes of kinds that nobody has asked for in a while."""
        old = [key for key, last in self._last_asked.items() if now - last >= _KEEP_SECONDS]
        boxes = [box for key in old for box in self._boxes.pop(key, ())]
        for key in old:
            del self._last_asked[key]
            self._asked.pop(key, None)
            self._at_once.pop(key, None)
        return boxes

    def next_stale_at(self) -> float | None:
        if not self._last_asked:
            return None
        return min(self._last_asked.values()) + _KEEP_SECONDS
