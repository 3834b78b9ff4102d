"""A container's streams over TLS, as a plain socket.

docker-py hands out its TLS socket, which cannot be ended in one direction alone: and the end of
stdin is what half of all programs wait for. So this opens a connection of its own, with docker-py's
certificates, and two threads carry what comes and goes between it and a pair of sockets. Everybody
else reads and writes the other end of that pair, and knows nothing of TLS.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from coderunner.errors import EngineUnavailable
from coderunner.forks import dropped_in_children, no_fork

SCHEME = "https://"
_CHUNK = 64 * 1024
_PATIENCE_S = 60
_PORT = 2376
_MOST_HEAD = 64 * 1024
_UPGRADED = ("101", "200")


def attach(api: Any, container: str, streams: Mapping[str, int]) -> socket.socket:
    """A line to a container's streams. Blocking."""
    address = urlsplit(api.base_url)
    host = address.hostname or ""
    channel = _Channel(host, address.port or _PORT, _context(api))
    try:
        path = f"/v{api.api_version}/containers/{container}/attach?{urlencode(streams)}"
        first = _upgrade(channel, host, path)
    except BaseException:
        channel.close()
        raise
    with no_fork:
        ours, theirs = socket.socketpair()
        _Relay(channel, theirs, first).start()
    return ours


def _context(api: Any) -> ssl.SSLContext:
    """What requests would make of docker-py's settings, and of the environment's."""
    found = api.merge_environment_settings(api.base_url, {}, None, api.verify, api.cert)
    verify, cert = found["verify"], found["cert"]
    context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if cert:
        context.load_cert_chain(*((cert,) if isinstance(cert, str) else cert))
    return context


def _upgrade(channel: _Channel, host: str, path: str) -> bytes:
    """From HTTP to a stream. Returns what has come of the latter."""
    channel.send(
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n"
        "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n".encode()
    )
    answer = b""
    while b"\r\n\r\n" not in answer and len(answer) < _MOST_HEAD:
        part = channel.receive()
        if not part:
            break
        answer += part
    head, _, rest = answer.partition(b"\r\n\r\n")
    status = head.split(b"\r\n")[0].decode("latin-1")
    if status.split(" ")[1:2] not in [[code] for code in _UPGRADED]:
        raise EngineUnavailable(
            f"Docker does not let us attach to a container: {status or 'it hung up'}",
            hint="see that `docker info` works",
        )
    return rest


class _Channel:
    """TLS over a socket. One thread may send while another one receives."""

    def __init__(self, host: str, port: int, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._using = threading.Lock()  # the state of TLS; never held while we wait for others
        with no_fork:
            self._raw = socket.create_connection((host, port), timeout=_PATIENCE_S)
            dropped_in_children(self)
        try:
            self._raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._shake_hands()
        except BaseException:
            self._raw.close()
            raise

    def patient(self) -> None:
        """From here on silence is no fault."""
        self._raw.settimeout(None)

    def send(self, data: bytes) -> None:
        with self._using:
            self._tls.write(data)
            ready = self._outgoing.read()
        self._raw.sendall(ready)

    def receive(self) -> bytes:
        """Some bytes; none at the end."""
        while coming := self._raw.recv(_CHUNK):
            with self._using:
                self._incoming.write(coming)
                data, ended = self._decrypted()
            if data or ended:
                return data
        return b""

    def end_sending(self) -> None:
        """We say that nothing more comes, and go on reading. All that has come has been decrypted:
        so TLS finds no answer to that here, and cannot take what comes for one."""
        with self._using:
            with contextlib.suppress(ssl.SSLWantReadError):
                self._tls.unwrap()
            ready = self._outgoing.read()
        self._raw.sendall(ready)

    def hang_up(self) -> None:
        """Whoever receives, is at the end."""
        with contextlib.suppress(OSError):
            self._raw.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._raw.close()

    def drop(self) -> None:
        self._raw.close()

    def _decrypted(self) -> tuple[bytes, bool]:
        parts = []
        try:
            while part := self._tls.read(_CHUNK):
                parts.append(part)
        except ssl.SSLWantReadError:
            return b"".join(parts), False
        except ssl.SSLZeroReturnError:
            pass
        return b"".join(parts), True

    def _shake_hands(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
                return
            except ssl.SSLWantReadError:
                self._raw.sendall(self._outgoing.read())
                coming = self._raw.recv(_CHUNK)
                self._incoming.write(coming) if coming else self._incoming.write_eof()
            finally:
                self._raw.sendall(self._outgoing.read())


class _Relay:
    """Between a channel and our end of a pair of sockets, until the other end is closed."""

    def __init__(self, channel: _Channel, end: socket.socket, first: bytes) -> None:
        self._channel = channel
        self._end = end
        self._first = first
        self._inwards = threading.Thread(target=self._bring, name="coderunner-tls", daemon=True)
        dropped_in_children(self)

    def start(self) -> None:
        self._channel.patient()
        self._inwards.start()
        threading.Thread(target=self._send, name="coderunner-tls", daemon=True).start()

    def drop(self) -> None:
        self._end.close()

    def _bring(self) -> None:
        with contextlib.suppress(OSError):
            data = self._first or self._channel.receive()
            while data:
                self._end.sendall(data)
                data = self._channel.receive()
        self._shut(socket.SHUT_WR)

    def _send(self) -> None:
        try:
            while data := self._end.recv(_CHUNK):
                self._channel.send(data)
            self._channel.end_sending()
        except OSError:
            self._shut(socket.SHUT_RD)  # who still writes, learns of it
        _wait_until_closed(self._end)
        self._channel.hang_up()
        self._inwards.join()
        self._channel.close()
        self._end.close()

    def _shut(self, how: int) -> None:
        with contextlib.suppress(OSError):
            self._end.shutdown(how)


def _wait_until_closed(end: socket.socket) -> None:
    """By the other side, and not for writing alone."""
    waiting = select.poll()
    waiting.register(end, 0)  # hanging up is told unasked
    waiting.poll()
