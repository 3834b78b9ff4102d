"""A server that says what a test wants it to say, byte for byte."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

Script = Callable[[socket.socket], None]
"""What is said on one connection, once a request has come."""


class Scripted:
    """Each connection gets the next script, the last one again and again."""

    def __init__(self, *scripts: Script | bytes) -> None:
        self._scripts = [one if callable(one) else saying(one) for one in scripts]
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.requests: list[bytes] = []
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Scripted:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            for script in self._endless():
                connection, _ = self._listening.accept()
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(30)
                    self.requests.append(_request(connection))
                    script(connection)

    def _endless(self) -> Iterator[Script]:
        yield from self._scripts
        while True:
            yield self._scripts[-1]


def saying(answer: bytes) -> Script:
    return lambda connection: connection.sendall(answer)


def answer(
    status: int, body: bytes = b"", kind: str = "application/json", *more: str, short_by: int = 0
) -> bytes:
    """A whole one, or one that is cut so many bytes before its end."""
    head = [
        f"HTTP/1.1 {status} Said",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body) + short_by}",
        "Connection: close",
        *more,
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


def _request(connection: socket.socket) -> bytes:
    """The head, and as much of the body as it says that there is."""
    data = b""
    while b"\r\n\r\n" not in data and (chunk := connection.recv(65536)):
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    while lengths and len(body) < lengths[0] and (chunk := connection.recv(65536)):
        body += chunk
    return head + b"\r\n\r\n" + body
