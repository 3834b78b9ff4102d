# 51. Asks a thousand times to be told of the machine's load.
# For every descriptor that is closed the kernel waits a while, and nobody can be killed until then:
# its time would be over, and it would still be there.
# limits: wall_ms=5000
# ends: exit 0
# says: held
import errno
import os
import pathlib

got_through: list[str] = []
for name in os.listdir("/proc/pressure") if pathlib.Path("/proc/pressure").exists() else ():
    try:
        while True:
            fd = os.open(f"/proc/pressure/{name}", os.O_RDWR | os.O_NONBLOCK)
            os.write(fd, b"some 150000 2000000\0")
            got_through.append(name)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EROFS):
            got_through.append(f"{name}: {error.strerror}")
print(*got_through[-1:] or ["held"], sep="\n")
