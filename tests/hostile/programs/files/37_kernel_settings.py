# 37. Changes the settings of the kernel: opens all of /proc, but for processes, for writing.
# ends: exit 0
# says: held
# may say on gvisor: * is not there to be tried
import errno
import os

REFUSALS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT}
# This one can be opened by anybody, and asks a second time when somebody writes.
OPEN_TO_ALL = "/proc/sys/kernel/ns_last_pid"
MUST_BE_TRIED = {
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname",
    "/proc/sys/vm/overcommit_memory", "/proc/sys/vm/drop_caches", "/proc/sys/fs/suid_dumpable",
    "/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/core/somaxconn",
}  # fmt: skip
got_through, tried = list[str](), set[str]()


def try_file(path: str) -> None:
    tried.add(path)
    if os.path.exists(path) and os.path.samefile(path, "/dev/null"):
        return  # hidden
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno not in REFUSALS:
            got_through.append(f"{path}: {error.strerror}")
        return
    if path != OPEN_TO_ALL:
        got_through.append(f"{path} can be written")
        return
    try:
        os.write(fd, b"1")
        got_through.append(f"{path} was written")
    except OSError as error:
        if error.errno != errno.EPERM:
            got_through.append(f"{path}: {error.strerror}")


for folder, folders, files in os.walk("/proc"):
    if folder == "/proc":
        processes = {name for name in folders if name.isdigit()} | {"self", "thread-self"}
        folders[:] = set(folders) - processes
    for name in files:
        try_file(f"{folder}/{name}")
try_file("/proc/sysrq-trigger")

got_through += [f"{path} is not there to be tried" for path in sorted(MUST_BE_TRIED - tried)]
print(*got_through or ["held"], sep="\n")
