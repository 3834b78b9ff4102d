"""A WebSocket without a library: what no decent client sends."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from typing import Any

TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA
_PATIENCE_S = 30.0
_FIN = 0x80


def frame(kind: int, data: bytes = b"", *, fin: bool = True, flags: int = 0) -> bytes:
    head = bytes([kind | (_FIN if fin else 0) | flags])
    if len(data) < 126:
        return head + bytes([_FIN | len(data)]) + bytes(4) + data
    return head + bytes([_FIN | 127]) + struct.pack(">Q", len(data)) + bytes(4) + data


def head_of_a_frame_of(length: int) -> bytes:
    return bytes([_FIN | BINARY, _FIN | 127]) + struct.pack(">Q", length) + bytes(4)


def shaken_hands(port: int, *, receive_buffer: int | None = None) -> socket.socket:
    """A connection that has been upgraded."""
    raw = socket.socket()
    raw.settimeout(_PATIENCE_S)
    if receive_buffer is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    raw.connect(("127.0.0.1", port))
    key = base64.b64encode(os.urandom(16)).decode()
    raw.sendall(
        f"GET /v1/live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += raw.recv(1)
    assert answer.startswith(b"HTTP/1.1 101"), answer
    return raw


def program(code: str, **asked: Any) -> bytes:
    return frame(TEXT, json.dumps({"language": "python", "code": code, **asked}).encode())


def until_closed(raw: socket.socket) -> int | None:
    """The code that the other side closes with, if it says so."""
    data = b""
    try:
        while more := raw.recv(65536):
            data = (data + more)[-1024:]
    except ConnectionResetError:
        pass
    start = data.rfind(bytes([_FIN | CLOSE]))
    return struct.unpack(">H", data[start + 2 : start + 4])[0] if start >= 0 else None
