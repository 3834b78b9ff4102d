"""What the spawner tells its caller: at once if it listens, else as soon as it does.

A caller may be stopped, or busy. Its answers wait for it; the clocks of its runs do not.
"""

from __future__ import annotations

import socket
from collections import deque

from . import protocol


class Answers:
    """Owns the descriptors it is given, until they are on their way."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._waiting: deque[tuple[bytes, list[int]]] = deque()

    def send(self, message: protocol.Message, fds: list[int]) -> None:
        self._waiting.append((protocol.encode(message), fds))
        self.flush()

    def flush(self) -> None:
        while self._waiting:
            packet, fds = self._waiting[0]
            try:
                protocol.send(self._channel, packet, fds, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError:
                pass  # a caller that is gone shows as end of file on the next read
            self._waiting.popleft()
            protocol.close_all(fds)

    def __bool__(self) -> bool:
        """Whether some of them still wait."""
        return bool(self._waiting)
