# 51. The files of /proc/self that can be written, and what comes of it.
# ends: exit 0
# says: held
# may say in containers: /proc/self/loginuid took b'0'
import contextlib
import errno
import os

got_through: list[str] = []


def refused(name: str, data: bytes, *reasons: int) -> None:
    path = f"/proc/self/{name}"
    try:
        fd = os.open(path, os.O_WRONLY)
        os.write(fd, data)
        got_through.append(f"{path} took {data!r}")
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EACCES, *reasons):  # not all kernels have all
            got_through.append(f"{path}: {error.strerror}")


refused("timens_offsets", b"monotonic 86400 0", errno.EPERM)
refused("loginuid", b"0", errno.EPERM, errno.EINVAL)
refused("setgroups", b"allow", errno.EPERM)
refused("make-it-fail", b"1", errno.EPERM)
refused("fail-nth", b"1", errno.EPERM)
refused("autogroup", b"-20", errno.EPERM)
refused("oom_adj", b"-17")
for label in ("current", "exec", "fscreate", "keycreate", "sockcreate", "prev"):
    refused(f"attr/{label}", b"unconfined", errno.EINVAL, errno.EPERM)

# Where in the machine's memory a page lies would help to aim at it.
page = bytearray(4096)
with contextlib.suppress(OSError), open("/proc/self/pagemap", "rb") as file:
    file.seek(id(page) // 4096 * 8)
    if int.from_bytes(file.read(8), "little") & ((1 << 55) - 1):
        got_through.append("pagemap tells physical addresses")

# Only the kernel's own checkpoint tools may open these.
for name in os.listdir("/proc/self/map_files")[:5]:
    try:
        os.open(f"/proc/self/map_files/{name}", os.O_RDONLY)
        got_through.append(f"map_files/{name} can be opened")
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EACCES):
            got_through.append(f"map_files/{name}: {error.strerror}")

# Its own memory is its own; the kernel's code and the page at zero are not.
for address in (0x7FFFFFFF81000000, 0x0):
    try:
        os.pwrite(os.open("/proc/self/mem", os.O_WRONLY), b"x", address)
        got_through.append(f"mem took a byte at {address:x}")
    except OSError as error:
        if error.errno not in (errno.EIO, errno.EACCES):
            got_through.append(f"mem at {address:x}: {error.strerror}")

print(*got_through or ["held"], sep="\n")
