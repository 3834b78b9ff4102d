"""What process 1 of a box does before the box is ready, as data: a list of system calls.

The spawner writes it once for each kind of box (`stages.py`), fills in what differs from box to
box, and hands it over. It is played in the new process, compiled (`player.c`) or by Python
(`player.py`): nothing is decided there, so both do the same, and what a box is made of can be read,
tested and taken apart here.

    header │ steps, all of one size │ texts and structures that the steps point to
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from . import syscalls

VERSION = 2  # process1.h has the same
HEADER = struct.Struct("<II")  # version, number of steps
STEP = struct.Struct("<BBHHHII6q")  # see `struct step`

CALL, WRITE, ENDINGS, ELSEWHERE, STORE = range(1, 6)  # kinds of steps
VALUE, PLACE, KEPT = range(3)  # what an argument means: itself, a place in the plan, a result kept

_ALIGNMENT = 8
_FIRST_ARGUMENT = STEP.size - 6 * 8
_AT_FDCWD = -100


class Slot(NamedTuple):
    """Stands for what is known only when a box is made: a number, or a text of at most so many
    bytes."""

    name: str
    room: int = 0


class Kept(NamedTuple):
    """The result of an earlier step."""

    register: int


class Data(NamedTuple):
    """Something in the plan that other steps point to, or change."""

    offset: int


Argument = int | str | bytes | Slot | Kept | Data
Filling = Mapping[str, int | str]


class _Step(NamedTuple):
    kind: int
    name: str
    args: tuple[Argument, ...]
    number: int = 0
    keep: int = 0
    may_fail: int = 0
    must_fail: int = 0


class Plan:
    """Steps are added in the order in which they are played. Each has a name, for messages."""

    def __init__(self, machine: str) -> None:
        self._numbers = syscalls.every_number(machine)
        self._steps: list[_Step] = []
        self._data = bytearray()
        self._stage = ""
        self._text_slots: dict[str, tuple[int, int]] = {}  # offset in the data, room

    def stage(self, name: str) -> None:
        """What the steps from here on are for."""
        self._stage = name

    def call(self, call: str, *args: Argument, about: str = "", may_fail: int = 0) -> None:
        """A system call. An error ends the box, but for the one named by `may_fail`."""
        self._add(CALL, about or call, args, number=self._numbers[call], may_fail=may_fail)

    def keep(self, register: int, call: str, *args: Argument) -> Kept:
        """A system call whose result is needed later."""
        self._add(CALL, call, args, number=self._numbers[call], keep=register)
        return Kept(register)

    def refused(self, call: str, *args: Argument, by: int, about: str) -> None:
        """A system call that must fail with this error: the proof that a wall stands."""
        self._add(CALL, about, args, number=self._numbers[call], must_fail=by)

    def open(self, register: int, path: str, flags: int) -> Kept:
        flags |= os.O_CLOEXEC
        return self.keep(register, "openat", _AT_FDCWD, path, flags, 0o644)

    def make_directory(self, path: str, mode: int = 0o755, *, there: bool = False) -> None:
        """`there`: it may exist already."""
        self.call("mkdirat", _AT_FDCWD, path, mode, about=path, may_fail=errno.EEXIST * there)

    def prctl(
        self, option: int, argument: Argument = 0, more: Argument = 0, *, about: str = ""
    ) -> None:
        self.call("prctl", option, argument, more, 0, 0, about=about or f"prctl({option})")

    def write(self, path: str, text: str | Slot) -> None:
        """Write a text to one of the kernel's control files."""
        self._add(WRITE, path, (path, text))

    def endings(self, path: str, endings: Iterable[str | Slot], times: int = 1) -> None:
        """So many lines of a file must end like this, for each of these."""
        first, *_ = [self._put(text) for text in endings]  # they lie one after the other
        self._put(b"\0")
        self._add(ENDINGS, path, (path, first, times))

    def elsewhere(self, path: str, outside: str, about: str) -> None:
        """A link must not lead there."""
        self._add(ELSEWHERE, about, (path, outside))

    def store(self, data: Data, offset: int, value: Argument) -> None:
        """Put eight bytes into what other steps point to."""
        self._add(STORE, "store", (Data(data.offset + offset), value))

    def data(self, content: bytes) -> Data:
        return self._put_aligned(content)

    def _add(
        self,
        kind: int,
        name: str,
        args: tuple[Argument, ...],
        number: int = 0,
        keep: int = 0,
        may_fail: int = 0,
        must_fail: int = 0,
    ) -> None:
        full = f"{self._stage}: {name}"
        self._steps.append(_Step(kind, full, args, number, keep, may_fail, must_fail))

    # --- writing it down -------------------------------------------------------------------------

    def template(self) -> Template:
        """Everything but what the slots stand for."""
        rows = [(step, self._put(step.name).offset) for step in self._steps]
        resolved = [[self._resolve(arg) for arg in step.args] for step, _ in rows]
        before = HEADER.size + STEP.size * len(rows)
        packet = bytearray(HEADER.pack(VERSION, len(rows)))
        numbers: list[tuple[str, int]] = []
        for (step, name), args in zip(rows, resolved, strict=True):
            for place, argument in enumerate(step.args):
                if isinstance(argument, Slot) and not argument.room:
                    numbers.append((argument.name, len(packet) + _FIRST_ARGUMENT + 8 * place))
            packet += _pack(step, before + name, args, before)
        texts = [(name, before + at, room) for name, (at, room) in self._text_slots.items()]
        return Template(bytes(packet + self._data), numbers, texts)

    def _resolve(self, argument: Argument) -> tuple[int, int]:
        """Its meaning, and a number: an offset is still one in the data."""
        if isinstance(argument, int):
            return VALUE, argument
        if isinstance(argument, Kept):
            return KEPT, argument.register
        if isinstance(argument, Data):
            return PLACE, argument.offset
        if isinstance(argument, Slot) and not argument.room:
            return VALUE, 0
        return PLACE, self._put(argument).offset

    def _put(self, text: str | bytes | Slot) -> Data:
        """A text with the byte that ends it."""
        if not isinstance(text, Slot):
            content = os.fsencode(text) if isinstance(text, str) else text
            place = Data(len(self._data))
            self._data += content + (b"\0" if isinstance(text, str) else b"")
            return place
        if text.name not in self._text_slots:
            self._text_slots[text.name] = (len(self._data), text.room)
            self._data += bytes(text.room)
        return Data(self._text_slots[text.name][0])

    def _put_aligned(self, content: bytes) -> Data:
        self._data += bytes(-len(self._data) % _ALIGNMENT)
        return self._put(content + bytes(-len(content) % _ALIGNMENT))


def _pack(step: _Step, name: int, args: list[tuple[int, int]], before: int) -> bytes:
    meanings = sum(meaning << 2 * place for place, (meaning, _) in enumerate(args))
    values = [value + (before if meaning == PLACE else 0) for meaning, value in args]
    values += [0] * (6 - len(values))
    head = (step.kind, step.keep, meanings, step.may_fail, step.must_fail, step.number, name)
    return STEP.pack(*head, *values)


class Template(NamedTuple):
    content: bytes
    numbers: list[tuple[str, int]]  # which slot, and where
    texts: list[tuple[str, int, int]]  # the same, and how much room there is

    def fill(self, values: Filling) -> bytes:
        packet = bytearray(self.content)
        for name, offset in self.numbers:
            struct.pack_into("<q", packet, offset, values[name])
        for name, offset, room in self.texts:
            text = str(values[name]).encode()
            if len(text) >= room:
                raise ValueError(f"{name} is longer than {room - 1} bytes: {text!r}")
            packet[offset : offset + len(text)] = text
        return bytes(packet)
