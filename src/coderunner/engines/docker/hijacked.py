"""Connections that docker-py has turned from HTTP into a stream of a container's."""

from __future__ import annotations

import struct
from typing import Any

HEADER = struct.Struct(">BxxxI")  # of a frame: stream, size
STDERR = 2


def socket_of(stream: Any) -> Any:
    """The socket behind what `attach_socket` and `exec_start` give."""
    return getattr(stream, "_sock", stream)


def let_go(stream: Any) -> None:
    """docker-py hangs the response, which holds the connection, to the stream that it returns."""
    for part in (getattr(stream, "_response", None), stream, socket_of(stream)):
        if part is not None:
            part.close()
