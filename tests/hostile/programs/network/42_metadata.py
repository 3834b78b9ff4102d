# 42. Asks the cloud it might run in for its credentials.
# limits: wall_ms=8000
# ends: exit 0
# says: held
import errno
import socket

SERVICES = [("169.254.169.254", 80), ("169.254.170.2", 80), ("100.100.100.200", 80),
            ("168.63.129.16", 80), ("169.254.169.253", 53), ("fd00:ec2::254", 80)]  # fmt: skip
got_through = []
for address, port in SERVICES:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(family, kind) as line:
            answer = line.connect_ex((address, port))
        if answer not in (errno.ENETUNREACH, errno.EADDRNOTAVAIL):
            got_through.append(f"{address}: {errno.errorcode.get(answer, 'connected')}")
print(*got_through or ["held"], sep="\n")
