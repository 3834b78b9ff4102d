"""Things the doctor puts up on the host, for a box to reach. If the walls hold, it cannot."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

_IPC_CREAT, _IPC_EXCL, _IPC_RMID = 0o1000, 0o2000, 0
_NAMESPACES = ("pid", "mnt", "net", "ipc", "uts", "user")


@dataclass(frozen=True)
class Bait:
    """What the probe is told to reach for."""

    hidden: list[str]  # files that exist here
    read_only: list[str]  # directories that exist there
    port: int  # somebody listens on the host's 127.0.0.1
    abstract: str  # and on this abstract unix socket
    semaphore: int  # the key of a System V semaphore
    pid: int  # the doctor's own process
    started: str  # and when it started, which no other process of that number did
    hostname: str
    namespaces: dict[str, str]

    def for_probe(self) -> dict[str, object]:
        return asdict(self)


HIDDEN: tuple[str, ...] = ("/etc/shadow", "/etc/machine-id", "/var/log", "/sys/kernel")


@dataclass
class Listeners:
    """Sockets that nobody from a box may reach: seen from here, which cannot be faked there."""

    tcp: socket.socket
    unix: socket.socket

    def visitors(self) -> int:
        """How many have called so far and not been counted yet."""
        return sum(self._accept(listener) for listener in (self.tcp, self.unix))

    def _accept(self, listener: socket.socket) -> int:
        count = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                listener.accept()[0].close()
                count += 1
        return count


@contextlib.contextmanager
def laid_out(
    places: list[Path], read_only: list[str], hidden_too: Sequence[str] = HIDDEN
) -> Iterator[tuple[Bait, Listeners]]:
    """Put everything up, with a file in each of the places; take it down again afterwards."""
    with contextlib.ExitStack() as stack:
        hidden = [stack.enter_context(_canary(place)) for place in places]
        listeners = stack.enter_context(_listening())
        semaphore = stack.enter_context(_semaphore())
        bait = Bait(
            hidden=[*hidden, *hidden_too],
            read_only=read_only,
            port=listeners.tcp.getsockname()[1],
            abstract=listeners.unix.getsockname().decode().lstrip("\0"),
            semaphore=semaphore,
            pid=os.getpid(),
            started=_start_time(),
            hostname=socket.gethostname(),
            namespaces={name: os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES},
        )
        yield bait, listeners


@contextlib.contextmanager
def _canary(place: Path) -> Iterator[str]:
    """A file that everybody may read, below a directory that everybody may enter."""
    with tempfile.TemporaryDirectory(prefix="coderunner-doctor-", dir=place) as directory:
        # Permissions must not be what keeps the box out.
        os.chmod(directory, 0o755)  # noqa: S103
        path = Path(directory, "canary")
        path.write_text("a box that can read this can read the host\n")
        path.chmod(0o644)
        yield str(path)


@contextlib.contextmanager
def _listening() -> Iterator[Listeners]:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as unix,
    ):
        tcp.bind(("127.0.0.1", 0))
        unix.bind(f"\0coderunner-doctor-{secrets.token_hex(8)}")
        for listener in (tcp, unix):
            listener.listen(8)
            listener.setblocking(False)
        yield Listeners(tcp, unix)


@contextlib.contextmanager
def _semaphore() -> Iterator[int]:
    """The key of a semaphore that exists; of none, where the kernel has no System V IPC."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = secrets.randbelow(1 << 30) + 1
    number = libc.semget(key, 1, _IPC_CREAT | _IPC_EXCL | 0o666)
    try:
        yield key
    finally:
        if number >= 0:
            libc.semctl(number, 0, _IPC_RMID)


def _start_time() -> str:
    """The 22nd field of our stat, counted behind the name, which may contain anything."""
    return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
