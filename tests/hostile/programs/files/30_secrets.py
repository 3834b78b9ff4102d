# 30. Looks for what others would rather keep: passwords, keys, logs, whole disks.
# ends: exit 0
# says: held
# may say in containers: /etc/fstab: b'#'
# may say in containers: /*: []
# may say in containers: /var/l*: *
# may say in containers: /var/run: *
# may say in containers: /dev/tty: No such device or address
# may say in containers: /dev/ptmx: Resource temporarily unavailable
# may say in containers: /proc/timer_list: b''
# may say in containers: /proc/locks: *: OFDLCK *
import errno
import os
import pathlib

WANTED = [
    "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private",
    "/etc/machine-id", "/etc/fstab", "/root/.ssh", "/root/.bash_history", "/root/.bashrc",
    "/root/.netrc", "/root/.aws", "/root/.gnupg", "/root/.config", "/home", "/srv", "/mnt",
    "/media", "/boot", "/run/secrets", "/run/docker.sock", "/var/log", "/var/lib", "/var/run",
    "/var/mail", "/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/port", "/dev/sda", "/dev/vda",
    "/dev/nvme0n1", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/tty", "/dev/ptmx",
    "/dev/console", "/dev/disk", "/dev/mapper/control", "/dev/loop-control", "/dev/vhost-vsock",
    "/proc/kcore", "/proc/kmsg", "/proc/slabinfo", "/proc/vmallocinfo", "/proc/timer_list",
    "/proc/kpageflags",
]  # fmt: skip


def content(path: str) -> object:
    if os.path.isdir(path):
        return os.listdir(path)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    return os.read(fd, 1)


found = []
for path in WANTED:
    try:
        found.append(f"{path}: {content(path)}")
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EACCES):
            found.append(f"{path}: {error.strerror}")

# The names of kernel functions are no secret, their addresses are.
symbols = pathlib.Path("/proc/kallsyms").read_text().splitlines()
addresses = {line.split()[0] for line in symbols}
if addresses - {"0" * 16}:
    found.append("/proc/kallsyms shows addresses")
for name in ("keys", "locks"):
    lines = pathlib.Path("/proc", name).read_text().splitlines()
    found += [f"/proc/{name}: {line}" for line in lines]

print(*found or ["held"], sep="\n")
