"""What a forked child must not keep: its parent's lines to what the parent runs.

A server may fork while programs run for it. A child that had the lines, too, would keep those
programs alive when the parent is killed, and a program's stdin open when the parent has closed it.
So a child closes its copies, and no more: event loops, processes and files are still the parent's.
Who starts another program (`subprocess`) has no such trouble: all of these close on exec.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet


class Line(Protocol):
    def drop(self) -> None:
        """In a forked child: close our descriptors, and touch nothing that the parent has."""


_lines: WeakSet[Line] = WeakSet()

no_fork = threading.RLock()
"""Held while descriptors are made that are not on any line yet: a fork waits until they are."""


def dropped_in_children(line: Line) -> None:
    _lines.add(line)


def _in_child() -> None:
    try:
        for line in list(_lines):
            line.drop()
        _lines.clear()
    finally:
        no_fork.release()


os.register_at_fork(
    before=no_fork.acquire, after_in_parent=no_fork.release, after_in_child=_in_child
)
