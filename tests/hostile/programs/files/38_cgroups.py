# 38. Leaves its cgroup, or has the kernel start a program outside when the cgroup is empty.
# ends: exit 0
# says: held
import ctypes
import errno
import os
import pathlib

FILES = ("cgroup.procs", "tasks", "release_agent", "notify_on_release", "memory.max", "pids.max",
         "memory.limit_in_bytes", "cgroup.subtree_control", "devices.allow")  # fmt: skip
got_through = []

for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
    if line.split(":", 2)[2] != "/":
        got_through.append(f"the host's cgroups can be seen: {line}")

places = ["/sys/fs/cgroup", "/cgroup", "/proc/1/root/sys/fs/cgroup"]
mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
places += [line.split()[4] for line in mounts if " cgroup" in line]
for place in places:
    for folder, _, files in os.walk(place):
        for name in {*FILES} & {*files}:
            try:
                os.open(f"{folder}/{name}", os.O_WRONLY)
                got_through.append(f"{folder}/{name} can be written")
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EROFS, errno.EPERM):
                    got_through.append(f"{folder}/{name}: {error.strerror}")

libc = ctypes.CDLL(None, use_errno=True)
os.mkdir("/tmp/cgroup")
for kind in (b"cgroup", b"cgroup2"):
    if libc.mount(b"none", b"/tmp/cgroup", kind, 0, None) == 0 or ctypes.get_errno() != errno.EPERM:
        got_through.append(f"mounting {kind.decode()} is not refused")

print(*got_through or ["held"], sep="\n")
