"""Starts a Jupyter kernel in a box, and passes on the bytes between its sockets and our own pipes.

    the caller's sockets ⇄ multiplexer ⇄ stdin, stdout ⇄ this relay ⇄ the kernel's sockets

A box has no network but its own, so everything goes through the two pipes of a job, in frames:

    kind │ connection │ size │ as many bytes

Either side sends at most WINDOW bytes on a connection before the other has passed them on (CREDIT),
so nothing piles up, and a connection that nobody reads stops no other. What the bytes mean is not
known here. The kernel is not handed the pipes. It might get at them all the same, since it runs as
the same user; but what it could then forge is its own answers, which it can choose anyway.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

START, OPEN, DATA, CREDIT, CLOSE, SIGNAL, READY = range(1, 8)
HEADER = struct.Struct("<BII")
MOST_PAYLOAD = 64 * 1024
WINDOW = 512 * 1024
CREDITS = struct.Struct("<I")
CHANNELS = ("shell", "iopub", "stdin", "control", "hb")

_RETRY_MS = 5  # while the kernel does not listen yet
_PUBLISH_EVERY_S = 0.02
_LAST_WORDS_MS = 200  # for what a kernel said before it ended
_CONNECTION_FILE = "{connection_file}"
_FOLDER = "{folder}"
_LAUNCHER = ["-m", "ipykernel_launcher"]


class BrokenProtocol(ValueError):
    """No relay of ours would have sent this."""


def frame(kind: int, connection: int = 0, payload: bytes = b"") -> bytes:
    return HEADER.pack(kind, connection, len(payload)) + payload


class Frames:
    """Bytes as they come in, frames as they are complete. Never holds more than one of them."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> Iterator[tuple[int, int, bytes]]:
        self._rest += chunk
        start = 0
        while len(self._rest) - start >= HEADER.size:
            kind, connection, size = HEADER.unpack_from(self._rest, start)
            if not START <= kind <= READY or size > MOST_PAYLOAD:
                raise BrokenProtocol(f"a frame of kind {kind} and {size} bytes")
            end = start + HEADER.size + size
            if end > len(self._rest):
                break
            yield kind, connection, bytes(self._rest[start + HEADER.size : end])
            start = end
        del self._rest[:start]


class Connection:
    """One of the kernel's sockets, as long as somebody outside is connected to it."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self._path = path
        self.connected = False
        self.outgoing = bytearray()  # for the kernel
        self.may_send = WINDOW  # to the outside
        self.over = False  # outside nobody says anything more

    def connect(self) -> None:
        self.connected = self.socket.connect_ex(self._path) == 0
        if self.connected:
            self.socket.setblocking(False)

    def events(self) -> int:
        reading = select.POLLIN if self.may_send else 0
        return reading | (select.POLLOUT if self.outgoing else 0)


class Relay:
    def __init__(self) -> None:
        self._frames = Frames()
        self._connections: dict[int, Connection] = {}
        self._paths: list[str] = []
        self._kernel = 0
        self._status: int | None = None
        self._ready = False
        self._woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)

    def run(self) -> NoReturn:
        while self._status is None:
            self._turn(-1 if self._ready or not self._kernel else _RETRY_MS)
            self._connect()
        while self._connections and self._turn(_LAST_WORDS_MS):
            pass
        _end_as(self._status)

    def _turn(self, timeout_ms: int) -> bool:
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        numbers: dict[int, int] = {}
        for number, connection in self._connections.items():
            if connection.connected and connection.events():
                poll.register(connection.socket, connection.events())
                numbers[connection.socket.fileno()] = number
        ready = poll.poll(timeout_ms)
        for fd, events in ready:
            if fd == 0:
                self._hear()
            elif fd == self._woken:
                os.read(self._woken, 4096)
                self._reap()
            elif numbers[fd] in self._connections:
                self._serve(numbers[fd], events)
        return bool(ready)

    def _hear(self) -> None:
        chunk = os.read(0, MOST_PAYLOAD)
        if not chunk:
            os._exit(0)  # nobody is there any more; the box ends, and the kernel with it
        for kind, number, payload in self._frames.feed(chunk):
            if kind == START:
                self._start(json.loads(payload))
            elif kind == SIGNAL:
                self._signal(payload[0])
            elif kind == OPEN:
                self._connections[number] = Connection(self._paths[payload[0]])
            elif (connection := self._connections.get(number)) is not None:
                self._take(connection, kind, payload)

    def _take(self, connection: Connection, kind: int, payload: bytes) -> None:
        if kind == DATA:
            connection.outgoing += payload
        elif kind == CREDIT:
            connection.may_send += CREDITS.unpack(payload)[0]
        elif kind == CLOSE:
            connection.over = True

    def _connect(self) -> None:
        for connection in self._connections.values():
            if not connection.connected:
                connection.connect()
        for number in [n for n, c in self._connections.items() if c.over and not c.outgoing]:
            self._connections.pop(number).socket.close()
        if self._kernel and not self._ready and all(map(os.path.exists, self._paths)):
            self._ready = True
            _say(frame(READY))

    def _serve(self, number: int, events: int) -> None:
        connection = self._connections[number]
        try:
            if events & select.POLLOUT:
                sent = connection.socket.send(connection.outgoing[:MOST_PAYLOAD])
                del connection.outgoing[:sent]
                _say(frame(CREDIT, number, CREDITS.pack(sent)))
            if events & ~select.POLLOUT:
                chunk = connection.socket.recv(min(connection.may_send or 1, MOST_PAYLOAD))
                if not chunk:
                    raise ConnectionError
                connection.may_send -= len(chunk)
                _say(frame(DATA, number, chunk))
        except BlockingIOError:
            pass
        except OSError:
            self._connections.pop(number).socket.close()
            _say(frame(CLOSE, number))

    def _start(self, order: dict[str, Any]) -> None:
        """Sockets are files here: libzmq cannot do TCP in a box, since it looks for the machine's
        network first."""
        folder = os.path.join(os.environ.get("TMPDIR", "/tmp"), ".kernel")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        stem, path = os.path.join(folder, "socket"), os.path.join(folder, "kernel.json")
        self._paths = [f"{stem}-{port}" for port in range(1, len(CHANNELS) + 1)]
        ports = {f"{name}_port": port for port, name in enumerate(CHANNELS, start=1)}
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600), "w") as file:
            json.dump({**order["connection"], "transport": "ipc", "ip": stem, **ports}, file)
        argv = [word.replace(_CONNECTION_FILE, path) for word in order["argv"]]
        env = {name: text.replace(_FOLDER, folder) for name, text in order["env"].items()}
        self._kernel = os.fork()
        if not self._kernel:
            _become(argv, env)

    def _signal(self, number: int) -> None:
        if self._kernel and self._status is None:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.killpg(self._kernel, number)

    def _reap(self) -> None:
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if pid == self._kernel:
                    self._status = status
        except ChildProcessError:
            return


def _become(argv: list[str], env: dict[str, str]) -> NoReturn:
    """A kernel for this very interpreter needs no other one: what is loaded, it has."""
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(2, 1)
        os.closerange(3, 256)
        os.environ.update(env)
        if argv[0] == sys.executable and argv[1:3] == _LAUNCHER:
            _run_module(argv[2], argv[3:])
        for kind in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(kind, signal.SIG_DFL)
        os.execvp(argv[0], argv)  # noqa: S606 - a shell has no business here
    except BaseException as error:
        os.write(2, f"the kernel cannot be started: {error}\n".encode())
    finally:
        os._exit(126)


def _run_module(name: str, args: list[str]) -> NoReturn:
    import atexit
    import runpy
    import traceback

    code = 0
    sys.argv = [name, *args]
    del sys.path[0]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _fit_for_a_box()
        sys.path.insert(0, "")  # as with -m
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        atexit._run_exitfuncs()
        os._exit(code)


def _fit_for_a_box() -> None:
    """What a flood prints until the next time is one message, and not to be too long for one.
    And a box has no terminals, in which `!ls` would be run."""
    from ipykernel.iostream import OutStream
    from ipykernel.zmqshell import ZMQInteractiveShell

    OutStream.flush_interval = _PUBLISH_EVERY_S
    ZMQInteractiveShell.system = ZMQInteractiveShell.system_raw


def _say(message: bytes) -> None:
    """The other side always reads, so this never waits for long."""
    rest = memoryview(message)
    while rest:
        rest = rest[os.write(1, rest) :]


def _end_as(status: int) -> NoReturn:
    """As the kernel has: whoever looks at how the job ended looks at that."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    os.unlink(__file__)  # it has no business among the user's files
    Relay().run()
