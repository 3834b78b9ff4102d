# 41. Calls home: over TCP and UDP, by number and by name, near and far.
# It must fail at once: a program that waits for an answer would use up its time.
# limits: wall_ms=8000
# ends: exit 0
# says: held
# ends on gvisor: exit 0 | wall_time
import contextlib
import errno
import socket

FAR = ["192.0.2.1", "8.8.8.8", "1.1.1.1", "10.0.0.1", "172.17.0.1", "192.168.0.1", "100.64.0.1",
       "224.0.0.251", "255.255.255.255", "2001:db8::1", "fe80::1%1", "ff02::1%1",
       "::ffff:8.8.8.8"]  # fmt: skip
REFUSALS = {errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EHOSTUNREACH, errno.EACCES, errno.EINVAL}
got_through = []


def attempt(address: str, port: int, kind: socket.SocketKind) -> None:
    family, _, _, _, where = socket.getaddrinfo(address, port, type=kind)[0]
    with socket.socket(family, kind) as line:
        if kind is socket.SOCK_DGRAM and address == "255.255.255.255":
            line.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        line.connect(where)
        line.send(b"hello")


for address in FAR:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            attempt(address, 53, kind)
            got_through.append(f"{address} takes {kind.name}")
        except OSError as error:
            if error.errno not in REFUSALS:
                got_through.append(f"{address}, {kind.name}: {error}")

for name in ("example.com", "host.docker.internal", "metadata.google.internal"):
    with contextlib.suppress(socket.gaierror):
        got_through.append(f"{name} is {socket.getaddrinfo(name, 80)}")

with open("/proc/net/dev") as file:
    interfaces = [line.partition(":")[0].strip() for line in list(file)[2:]]
if set(interfaces) - {"lo"}:
    got_through.append(f"there is more than a loopback: {interfaces}")
with socket.create_server(("127.0.0.1", 0)) as server:  # control: sockets as such do work
    socket.create_connection(server.getsockname()).close()

print(*got_through or ["held"], sep="\n")
