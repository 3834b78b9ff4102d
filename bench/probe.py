"""Runs inside the spawner that `steps.py` starts: puts a clock around the engine's functions.

It takes the place of the spawner's entry point, wraps the functions of its modules, and then
becomes an ordinary spawner. What the clocks see goes into memory that is shared with `steps.py` (a
mapped file), because nothing else of a box survives its walls: its descriptors are closed, its root
is another one. Standard library only and few imports, like the spawner itself: whatever is loaded
here makes every clone slower.

The memory is divided into lanes, since the spawner and several boxes write at the same time: one
for the spawner, the others for boxes in turn. Each begins with the number of stamps, followed by
the stamps. The names come after the lanes.
"""

from __future__ import annotations

import importlib
import itertools
import mmap
import os
import struct
import sys
import time
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

LANE = 1 << 18
LANES = 16  # more than there are boxes at any one time
SPAWNER, FIRST_BOX = 0, 1
COUNT = struct.Struct("<q")
STAMP = struct.Struct("<iiq")  # index of the name; 1 for its begin, 0 for its end; nanoseconds
NAMES_AT = LANES * LANE
SIZE = NAMES_AT + LANE

BORN, EXIT, CLONE = "(born)", "(exit)", "clone"
_MODULES = ("copying", "identity", "inside", "kernel", "landlock", "making", "protocol", "rootfs")
_CLASSES = (
    ("box", "Box", "box"),
    ("cgroup_place", "Place", "place"),
    ("cgroups", "Cgroup", "cgroup"),
    ("cgroups", "CgroupV1", "cgroup"),
    ("cgroups", "CgroupV2", "cgroup"),
    ("making", "Maker", "maker"),
    ("run", "Run", "run"),
    ("spares", "Spares", "spares"),
    ("spawner", "Spawner", "spawner"),
)
# No clock: they wait for work, or are called dozens of times by functions that have one.
_LEFT_OUT = {"serve", "_turn", "_sleep_seconds", "_fsconfig", "_syscall", "_fail", "file"}
_CALLS = ("posix_spawn", "wait", "waitpid", "closerange", "kill")
_SMALL_CALLS = (
    *("open", "read", "write", "close", "mkdir", "rmdir", "chmod", "fchown", "stat", "scandir"),
    *("sendfile", "eventfd", "pipe2", "dup2", "chdir", "unlink", "mknod", "fstat"),
)


class Clock:
    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), SIZE)
        self._names: list[str] = []
        self._base = SPAWNER * LANE

    def stamp(self, index: int, begin: int) -> None:
        now = time.monotonic_ns()
        base = self._base
        (count,) = COUNT.unpack_from(self._memory, base)
        at = base + COUNT.size + count * STAMP.size
        if at + STAMP.size <= base + LANE:
            STAMP.pack_into(self._memory, at, index, begin, now)
            COUNT.pack_into(self._memory, base, count + 1)

    def name(self, name: str) -> int:
        self._names.append(name)
        text = "\n".join(self._names).encode()
        COUNT.pack_into(self._memory, NAMES_AT, len(text))
        self._memory[NAMES_AT + COUNT.size : NAMES_AT + COUNT.size + len(text)] = text
        return len(self._names) - 1

    def around(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        index, stamp = self.name(name), self.stamp

        def clocked(*args: Any, **kwargs: Any) -> Any:
            stamp(index, 1)
            try:
                return function(*args, **kwargs)
            finally:
                stamp(index, 0)

        clocked.__name__ = function.__name__
        return clocked

    def around_clone(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The clone returns twice, the second time in the box, which takes the next lane."""
        index, born, stamp = self.name(CLONE), self.name(BORN), self.stamp
        spawner, boxes = os.getpid(), itertools.count()

        def clocked(*args: Any, **kwargs: Any) -> Any:
            lane = FIRST_BOX + next(boxes) % (LANES - FIRST_BOX)
            stamp(index, 1)
            result = function(*args, **kwargs)
            if os.getpid() == spawner:
                stamp(index, 0)
            else:
                self._base = lane * LANE
                COUNT.pack_into(self._memory, self._base, 0)
                stamp(born, 1)
                stamp(born, 0)
            return result

        return clocked

    def around_exit(self, function: Callable[[int], Any]) -> Callable[[int], Any]:
        index = self.name(EXIT)

        def clocked(code: int) -> Any:
            self.stamp(index, 1)
            return function(code)

        return clocked


def wrap(clock: Clock, owner: ModuleType | type, label: str) -> None:
    """Put the clock around every function that `owner` itself defines."""
    for name, member in list(vars(owner).items()):
        if not isinstance(member, FunctionType) or name in _LEFT_OUT or name.startswith("__"):
            continue
        if isinstance(owner, ModuleType) and member.__module__ != owner.__name__:
            continue
        setattr(owner, name, clock.around(member, f"{label}.{name.strip('_')}"))


def install(clock: Clock, *, deep: bool) -> None:
    kernel: Any = importlib.import_module("boxes.kernel")
    clone = kernel.clone
    for name in _MODULES:
        wrap(clock, importlib.import_module(f"boxes.{name}"), name)
    kernel.clone = clock.around_clone(clone)
    for module, kind, label in _CLASSES:
        wrap(clock, getattr(importlib.import_module(f"boxes.{module}"), kind), label)
    for name in (*_CALLS, *(_SMALL_CALLS if deep else ())):
        setattr(os, name, clock.around(getattr(os, name), name))
    vars(os)["_exit"] = clock.around_exit(os._exit)


if __name__ == "__main__":
    install(Clock(sys.argv[2]), deep=sys.argv[3] == "deep")
    importlib.import_module("boxes.spawner").main()
