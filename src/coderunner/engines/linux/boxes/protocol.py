"""What caller and spawner say to each other: one JSON object per packet, with descriptors.

    caller → spawner   start (with stdin, stdout, stderr, workspace), signal, kill, warm
    spawner → caller   hello | unusable; for each start: ended (maybe with a directory) | failed;
                       for each warm: warmed

Packets keep their boundaries and their descriptors (SOCK_SEQPACKET), so there is nothing to parse
and nothing to get out of step.
"""

from __future__ import annotations

import array
import json
import os
import select
import socket
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeGuard

MAX_PACKET = 160 * 1024  # what fits into a socket's send buffer by default
START_FDS = 4  # stdin, stdout, stderr and the workspace

Message = dict[str, Any]

_LIMITS = frozenset(
    {"wall_ms", "memory_mb", "processes", "disk_mb", "files", "open_files", "stack_mb"}
)
_OPEN_LIMITS = frozenset({"cpu_ms", "cpus", "address_space_mb"})  # these may be None
_LARGEST = 1 << 63
_SIGNALS = 65  # the kernel counts them from 1 to 64


class PacketTooLarge(ValueError):
    """The message does not fit into one packet."""


def encode(message: Message) -> bytes:
    packet = json.dumps(message, separators=(",", ":")).encode("utf-8", "surrogateescape")
    if len(packet) > MAX_PACKET:
        raise PacketTooLarge(f"{len(packet)} bytes, at most {MAX_PACKET} fit")
    return packet


def decode(packet: bytes) -> Message:
    try:
        message = json.loads(packet)
    except RecursionError:
        raise ValueError("a packet is not that deep") from None
    if not isinstance(message, dict) or not isinstance(message.get("op"), str):
        raise ValueError("a packet is an object with an `op`")
    return message


def check_start(message: Message) -> None:
    """Raise ValueError unless a start has all that a job needs. Found out here it is that job's
    trouble; found out later, when others run, it could be theirs."""
    for field, is_sound in _START.items():
        if not is_sound(message.get(field)):
            raise ValueError(f"a job needs sound {field}")


def _is_text(value: object) -> bool:
    """The kernel's texts end at the first NUL."""
    return isinstance(value, str) and "\0" not in value


def _is_command(value: object) -> bool:
    return isinstance(value, list) and value != [] and all(map(_is_text, value))


def _is_environment(value: object) -> bool:
    return isinstance(value, dict) and all(
        _is_text(name) and name and "=" not in name and _is_text(text)
        for name, text in value.items()
    )


def _are_mounts(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(mount, list) and [type(part) for part in mount] == [str, str, bool]
        for mount in value
    )


def _is_warm(value: object) -> bool:
    return value is None or (
        isinstance(value, dict)
        and type(value.get("words")) is int
        and isinstance(value.get("preload"), list)
        and all(isinstance(name, str) for name in value["preload"])
    )


def _are_limits(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() >= _LIMITS | _OPEN_LIMITS
        and all(is_number(value[name]) for name in _LIMITS)
        and all(value[name] is None or is_number(value[name]) for name in _OPEN_LIMITS)
    )


def is_signal(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 < value < _SIGNALS


def is_number(value: object) -> bool:
    """A sensible amount of something: not NaN, not negative, and it fits into the kernel's."""
    return type(value) in (int, float) and 0 <= value < _LARGEST  # type: ignore[operator]


_DIRECTORIES = ("/workspace", "/tmp")
_START: dict[str, Callable[[object], bool]] = {
    "argv": _is_command,
    "env": _is_environment,
    "mounts": _are_mounts,
    "limits": _are_limits,
    "collect": lambda value: isinstance(value, bool),
    "warm": _is_warm,
    "directory": lambda value: value in _DIRECTORIES,
    "terminal": lambda value: value is None or isinstance(value, bool),
}


class Job(NamedTuple):
    """What process 1 is told of a job. A limit of -1 is none."""

    argv: list[str]
    env: dict[str, str]
    open_files: int
    address_space: int
    cpu_seconds: int
    terminal: bool = False  # the three descriptors are one, and the program is to have control


# Followed by the words, and by the environment as NAME=text; each ends with a NUL.
_JOB = struct.Struct("<IIqqqq")


def encode_job(job: Job) -> bytes:
    texts = [*job.argv, *(f"{name}={text}" for name, text in job.env.items())]
    head = _JOB.pack(len(job.argv), len(job.env), *job[2:])
    return head + b"".join(os.fsencode(text) + b"\0" for text in texts)


def decode_job(packet: bytes) -> Job:
    words, _, open_files, address_space, cpu_seconds, terminal = _JOB.unpack_from(packet)
    texts = [os.fsdecode(text) for text in packet[_JOB.size :].split(b"\0")[:-1]]
    pairs = (text.partition("=") for text in texts[words:])
    env = {name: text for name, _, text in pairs}
    return Job(texts[:words], env, open_files, address_space, cpu_seconds, bool(terminal))


def send(channel: socket.socket, packet: bytes, fds: Sequence[int] = (), flags: int = 0) -> None:
    if fds:
        socket.send_fds(channel, [packet], fds, flags)
    else:
        channel.send(packet, flags)


def receive(channel: socket.socket) -> tuple[Message, list[int]] | None:
    """The next message and its descriptors; None once the other side is gone. What is no message
    raises ValueError and leaves no descriptors behind."""
    packet, fds = receive_packet(channel)
    if not packet and not fds and _is_gone(channel):
        return None
    try:
        return decode(packet), fds
    except ValueError:
        close_all(fds)
        raise


def close_all(fds: Iterable[int]) -> None:
    for fd in fds:
        os.close(fd)


def _is_gone(channel: socket.socket) -> bool:
    """Whether the other side is closed. (An empty packet looks the same to recvmsg.)"""
    poll = select.poll()
    poll.register(channel, 0)
    return any(events & select.POLLHUP for _, events in poll.poll(0))


def receive_packet(channel: socket.socket, most_fds: int = START_FDS) -> tuple[bytes, list[int]]:
    """One packet with its descriptors, none of which a child will inherit.

    (`socket.recv_fds` ignores its flags in some releases of Python, MSG_CMSG_CLOEXEC included.)
    """
    fds = array.array("i")
    room = socket.CMSG_LEN(most_fds * fds.itemsize)
    packet, ancillary, _, _ = channel.recvmsg(MAX_PACKET, room, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return packet, list(fds)
