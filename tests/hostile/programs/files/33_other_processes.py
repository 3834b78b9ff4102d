# 33. Goes through /proc for processes that are not its own, and for what they have open.
# ends: exit 0
# says: held
# may say in containers: /proc/1/* is there
# may say in containers: /proc/1/cmdline can be read
# may say in containers: /proc/1/task can be read
# may say on gvisor: /proc/1/fd can be read
# may say on gvisor: /proc/1/environ can be read
# may say on gvisor: /proc/1/maps can be read
import errno
import os
import pathlib

got_through = []


def family() -> set[int]:
    """This process and those above it, as far as they can be seen."""
    pid, pids = os.getpid(), set[int]()
    while pid > 1:
        pids.add(pid)
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pids


strangers = {int(name) for name in os.listdir("/proc") if name.isdigit()} - family()


def shows(path: str) -> str:
    """What can be seen from outside may still not be looked into."""
    try:
        os.listdir(path) if os.path.isdir(path) else pathlib.Path(path).read_bytes()
        return "can be read"
    except PermissionError:
        return "is there"


for pid in sorted({1, os.getppid(), *strangers}):
    for name in ("root", "cwd", "exe", "fd", "environ", "mem", "maps", "ns/mnt", "cmdline", "task"):
        try:
            path = f"/proc/{pid}/{name}"
            os.readlink(path) if name in ("root", "cwd", "exe", "ns/mnt") else os.stat(path)
            got_through.append(f"{path} {shows(path)}")
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EACCES):
                got_through.append(f"{path}: {error.strerror}")

# Names that are not listed may still be there for those who guess.
for pid in range(2, 4096):
    if pid not in family() and os.path.exists(f"/proc/{pid}/status"):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        if int(status.split("Tgid:")[1].split()[0]) not in family():  # a thread has a name, too
            got_through.append(f"process {pid} can be seen")

print(*got_through or ["held"], sep="\n")
