"""What caller and spawner say to each other: one JSON object per packet, with descriptors.

    caller → spawner   start (with stdin, stdout, stderr, workspace), kill
    spawner → caller   hello | unusable; for each start: ended (maybe with a directory) | failed

Packets keep their boundaries and their descriptors (SOCK_SEQPACKET), so there is nothing to parse
and nothing to get out of step.
"""

from __future__ import annotations

import array
import json
import socket
from collections.abc import Sequence
from typing import Any

MAX_PACKET = 160 * 1024  # what fits into a socket's send buffer by default
START_FDS = 4  # stdin, stdout, stderr and the workspace

Message = dict[str, Any]


class PacketTooLarge(ValueError):
    """The message does not fit into one packet."""


def encode(message: Message) -> bytes:
    packet = json.dumps(message, separators=(",", ":")).encode("utf-8", "surrogateescape")
    if len(packet) > MAX_PACKET:
        raise PacketTooLarge(f"{len(packet)} bytes, at most {MAX_PACKET} fit")
    return packet


def decode(packet: bytes) -> Message:
    message = json.loads(packet)
    if not isinstance(message, dict) or not isinstance(message.get("op"), str):
        raise ValueError("a packet is an object with an `op`")
    return message


def send(channel: socket.socket, packet: bytes, fds: Sequence[int] = ()) -> None:
    if fds:
        socket.send_fds(channel, [packet], fds)
    else:
        channel.send(packet)


def receive(channel: socket.socket) -> tuple[Message, list[int]] | None:
    """The next message and its descriptors; None once the other side is gone."""
    packet, fds = receive_packet(channel)
    if not packet:
        return None
    return decode(packet), fds


def receive_packet(channel: socket.socket) -> tuple[bytes, list[int]]:
    """One packet with its descriptors, none of which a child will inherit.

    (`socket.recv_fds` ignores its flags in some releases of Python, MSG_CMSG_CLOEXEC included.)
    """
    fds = array.array("i")
    room = socket.CMSG_LEN(START_FDS * fds.itemsize)
    packet, ancillary, _, _ = channel.recvmsg(MAX_PACKET, room, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return packet, list(fds)
