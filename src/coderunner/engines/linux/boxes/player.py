"""Plays a plan in Python, where process 1 is not compiled: as `player.c` does it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

from . import kernel, plan
from .controls import read, write


class Failed(Exception):
    """A step did not do what it must. The box must not start."""


def play(packet: bytes) -> None:
    """Do in this process what the plan says. Raises Failed at the first step that fails."""
    version, count = plan.HEADER.unpack_from(packet)
    assert version == plan.VERSION, "spawner and interpreter are of one version"
    memory = ctypes.create_string_buffer(packet, len(packet))
    registers = [0] * 4
    for number in range(count):
        step = plan.STEP.unpack_from(packet, plan.HEADER.size + number * plan.STEP.size)
        kind, keep, meanings, may_fail, must_fail, call, name, *values = step
        address = ctypes.addressof(memory)
        args = []
        for place, value in enumerate(values):
            meaning = meanings >> 2 * place & 3
            kept = registers[value] if meaning == plan.KEPT else value
            args.append(kept + address if meaning == plan.PLACE else kept)
        try:
            result = _do(kind, call, args)
        except OSError as error:
            if error.errno not in (may_fail, must_fail):
                raise Failed(f"{_text(address + name)}: {os.strerror(error.errno or 0)}") from error
            result = 0
            must_fail = 0
        except Failed as error:
            raise Failed(f"{_text(address + name)}: {error}") from None
        if must_fail:
            raise Failed(f"{_text(address + name)}: nobody minds")
        if keep:
            registers[keep] = result


def _do(kind: int, call: int, args: list[int]) -> int:
    if kind == plan.CALL:
        return kernel.syscall(call, args)
    if kind == plan.WRITE:
        write(_text(args[0]), _text(args[1]))
    elif kind == plan.ENDINGS:
        _check_endings(_text(args[0]), list(_texts(args[1])), args[2])
    elif kind == plan.ELSEWHERE:
        if os.readlink(_text(args[0])) == _text(args[1]):
            raise Failed("it is that of the spawner")
    elif kind == plan.STORE:
        ctypes.c_int64.from_address(args[0]).value = args[1]
    return 0


def _check_endings(path: str, endings: list[str], times: int) -> None:
    lines = read(path).splitlines()
    for ending in endings:
        if sum(line.endswith(ending) for line in lines) != times:
            raise Failed(f"{path} does not say {ending!r}")


def _text(address: int) -> str:
    return os.fsdecode(ctypes.string_at(address))


def _texts(address: int) -> Iterator[str]:
    """Those that follow one another, up to an empty one."""
    while text := ctypes.string_at(address):
        yield os.fsdecode(text)
        address += len(text) + 1
