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
        self._waiting: deque[tuple[protocol.Message, list[int]]] = deque()

    def send(self, message: protocol.Message, fds: list[int]) -> None:
        self._waiting.append((message, fds))
        self.flush()

    def flush(self) -> None:
        while self._waiting:
            message, fds = self._waiting[0]
            try:
                protocol.send(self._channel, protocol.encode(message), fds, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except ConnectionError:
                pass  # a caller that is gone shows as end of file on the next read
            except OSError as error:
                if fds:  # as when this user has too many descriptors on their way
                    why = {"op": "failed", "kind": "engine", "message": error.strerror}
                    self._waiting.insert(1, ({**why, "id": message["id"]}, []))
            self._waiting.popleft()
            protocol.close_all(fds)

    def __bool__(self) -> bool:
        """Whether some of them still wait."""
        return bool(self._waiting)


def failure(error: Exception) -> protocol.Message:
    return {"op": "failed", "kind": "engine", "message": what_happened(error)}


def what_happened(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror or error} {error.filename or ''}".strip()
    return f"{type(error).__name__}: {error}"
