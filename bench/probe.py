"""Runs inside the spawner that `steps.py` starts: puts a clock around the engine's functions.

It takes the place of the spawner's entry point, wraps the functions of its modules, becomes an
ordinary spawner, and writes down what its clocks saw when that ends.

Process 1 of a box is another program, and behind walls. But what it does until it is ready is a
plan, made here: so the plan asks for the time between its stages, and sends what it was told over
the line to the spawner, where it is taken out again. Standard library only and few imports, like
the spawner itself.
"""

from __future__ import annotations

import importlib
import json
import os
import struct
import sys
import time
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

CALLER, SPAWNER, BOX, PROGRAM = "caller", "spawner", "box", "program"
DEEP = "deep"  # small calls, too
PLAN, ENDED = "plan", "ended"  # of a box: when it began to play its plan, when its program ended

# Those whose functions others import by name come first: they must be wrapped before that.
_MODULES = ("copying", "unpacking", "kernel", "making", "process1", "protocol", "rootfs", "stages")
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
    ("zygote", "Zygote", "zygote"),
)
# No clock: they wait for work, or are called dozens of times by functions that have one.
_LEFT_OUT = {"serve", "_turn", "_sleep_seconds", "_fsconfig", "_syscall", "_fail", "file"}
_SMALL_CALLS = (
    *("open", "read", "write", "close", "mkdir", "rmdir", "chmod", "fchown", "stat", "scandir"),
    *("sendfile", "eventfd", "dup2", "unlink", "mknod", "fstat", "waitpid"),
)

_TIMESPEC = struct.Struct("<qq")
_MARK = b"stages: "  # what begins like this is ours, and no report
_MOST_STAGES = 16


class Stamp(NamedTuple):
    who: str
    name: str
    begin: bool
    at_ns: int


class Clock:
    def __init__(self, who: str) -> None:
        self._who = who
        self.stamps: list[Stamp] = []

    def mark(self, name: str, begin: bool) -> None:
        self.stamps.append(Stamp(self._who, name, begin, time.monotonic_ns()))

    def around(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        mark = self.mark

        def clocked(*args: Any, **kwargs: Any) -> Any:
            mark(name, True)
            try:
                return function(*args, **kwargs)
            finally:
                mark(name, False)

        clocked.__name__ = function.__name__
        return clocked


class BoxClock:
    """For process 1: adds its stamps to those of the spawner."""

    def __init__(self, stamps: list[Stamp]) -> None:
        self._stamps = stamps
        self._stages: list[str] = []  # which are the same in all boxes of a spawner

    def in_plans(self, new_plan: Callable[[str], Any], channel: int) -> Callable[[str], Any]:
        """Around `Plan`: it takes the time before every stage, and after the last one."""

        def clocked(machine: str) -> Any:
            plan = new_plan(machine)
            begin, template = plan.stage, plan.template
            times = plan.data(_MARK + bytes(_TIMESPEC.size * (_MOST_STAGES + 1)))
            stages: list[str] = []

            def look() -> int:
                place = len(_MARK) + _TIMESPEC.size * len(stages)
                at = times._replace(offset=times.offset + place)
                plan.call("clock_gettime", time.CLOCK_MONOTONIC, at)
                return place + _TIMESPEC.size

            def stage(name: str) -> None:
                look()
                stages.append(name)
                begin(name)

            def last_look() -> Any:
                plan.call("write", channel, times, look())
                self._stages = stages
                return template()

            plan.stage, plan.template = stage, last_look
            return plan

        return clocked

    def in_packets(self, receive: Callable[..., Any]) -> Callable[..., Any]:
        """Around `receive_packet`: takes out what a plan has sent."""

        def received(*args: Any) -> Any:
            packet, fds = receive(*args)
            if not packet.startswith(_MARK):
                return packet, fds
            times = _TIMESPEC.iter_unpack(packet[len(_MARK) :])
            for name, (seconds, ns) in zip([PLAN, *self._stages], times, strict=True):
                self._stamps.append(Stamp(BOX, name, name == PLAN, seconds * 10**9 + ns))
            return receive(*args)

        return received

    def in_reports(self, report: Callable[..., Any]) -> Callable[..., Any]:
        """Around `Box.report`: process 1 says when the program ended."""

        def reported(box: Any) -> Any:
            word = report(box)
            if "ended_at" in word:
                self._stamps.append(Stamp(BOX, ENDED, False, round(word["ended_at"] * 1e9)))
            return word

        return reported


def wrap(clock: Clock, owner: ModuleType | type, label: str) -> None:
    """Put the clock around every function that `owner` itself defines."""
    for name, member in list(vars(owner).items()):
        if not isinstance(member, FunctionType) or name in _LEFT_OUT or name.startswith("__"):
            continue
        if isinstance(owner, ModuleType) and member.__module__ != owner.__name__:
            continue
        setattr(owner, name, clock.around(member, f"{label}.{name.strip('_')}"))


def install(clock: Clock, *, deep: bool) -> None:
    for name in _MODULES:
        wrap(clock, _module(name), name)
    for name, kind, label in _CLASSES:
        wrap(clock, getattr(_module(name), kind), label)
    for name in _SMALL_CALLS if deep else ():
        setattr(os, name, clock.around(getattr(os, name), name))
    inside, stages = BoxClock(clock.stamps), _module("stages")
    stages.Plan = inside.in_plans(stages.Plan, stages.CHANNEL)
    protocol, box = _module("protocol"), _module("box").Box
    protocol.receive_packet = inside.in_packets(protocol.receive_packet)
    box.report = inside.in_reports(box.report)


def _module(name: str) -> Any:
    return importlib.import_module(f"boxes.{name}")


def main(path: str, depth: str) -> None:
    clock = Clock(SPAWNER)
    install(clock, deep=depth == DEEP)
    try:
        _module("spawner").main()
    finally:
        with open(path, "w", encoding="ascii") as file:
            json.dump(clock.stamps, file)


if __name__ == "__main__":
    main(sys.argv[2], sys.argv[3])
