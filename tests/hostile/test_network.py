"""Services of the host that a program must not reach, each tried from the host as well."""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.hostile.arena import Arena

pytestmark = pytest.mark.hostile

Address = tuple[str, int] | str
# Connects to each address, by stream and by datagram; prints what comes of it.
CALLER = """
import errno, socket
for family, address in {calls}:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        if kind == socket.SOCK_SEQPACKET and family != socket.AF_UNIX:
            continue
        try:
            with socket.socket(family, kind) as line:
                line.settimeout(5)
                line.connect(address)
                line.send(b"hello")
                line.recv(1)
            print("answered")
        except OSError as error:
            print(errno.errorcode.get(error.errno, error))
"""


class Service:
    """Listens for streams and datagrams, and knows how many came."""

    def __init__(self, family: socket.AddressFamily, address: Address) -> None:
        self.family = family
        self._streams = socket.socket(family, socket.SOCK_STREAM)
        self._streams.bind(address)
        self._streams.listen()
        self._streams.setblocking(False)
        self.address: Address = self._streams.getsockname()

    def visits(self) -> int:
        """Since it was last asked."""
        count = 0
        while True:
            try:
                self._streams.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1

    def can_be_reached(self) -> bool:
        with socket.socket(self.family) as line:
            line.connect(self.address)
        return self.visits() == 1

    def close(self) -> None:
        self._streams.close()


@contextmanager
def service(family: socket.AddressFamily, address: Address) -> Iterator[Service]:
    opened = Service(family, address)
    try:
        yield opened
    finally:
        opened.close()


async def answers(arena: Arena, *calls: tuple[int, object]) -> set[str]:
    result = await arena.text(CALLER.format(calls=[(int(family), to) for family, to in calls]))
    assert result.ok, result.stderr
    return set(result.stdout.split())


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1"])
async def test_43_ports_of_the_host(arena: Arena, host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with service(family, (host, 0)) as listener:
        port = listener.address[1]
        assert listener.can_be_reached()
        near = [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET, ("127.0.0.2", port)),
                (socket.AF_INET, ("0.0.0.0", port)), (socket.AF_INET6, ("::1", port))]  # fmt: skip
        far = [(socket.AF_INET, (address, port)) for address in own_addresses()]
        assert await answers(arena, *near) == {"ECONNREFUSED"}
        assert await answers(arena, *far) <= {"ENETUNREACH", "EHOSTUNREACH"}
        assert listener.visits() == 0
        assert listener.can_be_reached()


def own_addresses() -> list[str]:
    """This machine's, beside its loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        if line.connect_ex(("192.0.2.1", 9)) != 0:
            return []
        return [line.getsockname()[0]]


async def test_44_abstract_sockets_of_the_host(arena: Arena) -> None:
    name = f"\0{secrets.token_hex(8)}"
    with service(socket.AF_UNIX, name) as listener:
        assert listener.can_be_reached()
        assert await answers(arena, (socket.AF_UNIX, name)) == {"ECONNREFUSED"}
        assert listener.visits() == 0
        assert listener.can_be_reached()


async def test_45_sockets_with_a_path(arena: Arena) -> None:
    """As a container engine's, which would make whoever reaches it root of the machine."""
    with tempfile.TemporaryDirectory(prefix="socket-", dir="/var/tmp") as place:
        os.chmod(place, 0o755)
        path = f"{place}/docker.sock"
        with service(socket.AF_UNIX, path) as listener:
            os.chmod(path, 0o777)
            assert listener.can_be_reached()
            known = ["/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock",
                     "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket",
                     "/run/systemd/private", "/var/run/nscd/socket"]  # fmt: skip
            calls = [(socket.AF_UNIX, name) for name in (path, *known)]
            assert await answers(arena, *calls) == {"ENOENT"}
            assert listener.visits() == 0
            assert listener.can_be_reached()
