"""What a program sees as its file system.

A *root* is built once for each set of toolchain directories and then shared by every box that
needs that set: a mount namespace whose `/` is a small read-only tmpfs with `/usr` and the like
mounted in, and with none of the host's own mounts left. A box enters it, takes a private copy of
the namespace and adds what is its own: `/proc`, `/tmp`, `/dev/shm` and the workspace.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import NoReturn

from . import kernel, protocol

WORKSPACE = "/workspace"
SCRATCH = "/box"  # where a box's own tmpfs is mounted while the box is set up
HOST_PROC = "/host-proc"  # see _devices
HOST_TERMINALS = "/host-terminals"  # where a box that gets one finds all, while it is set up
TERMINAL = "/dev/tty"  # a program's own, whichever that is

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/protocols",
    "/etc/services",
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/etc/localtime": "/usr/share/zoneinfo/Etc/UTC",  # the same everywhere
    "/etc/mtab": "/proc/self/mounts",
    "/etc/os-release": "../usr/lib/os-release",
    "/var/tmp": "/tmp",
}
_DIRECTORIES = ("/dev/shm", "/etc", "/proc", "/tmp", "/var", WORKSPACE, SCRATCH)


# A box mounts its own directories over these, so nothing in a root can be seen below them.
_PRIVATE = ("/tmp", "/var/tmp", "/dev/shm", WORKSPACE)


def place_of(target: str) -> str:
    """Where a root has what a box is to show at `target`: there, or, if the box covers that place
    with a directory of its own, in a corner from which the box puts it there afterwards."""
    if any(target == path or target.startswith(f"{path}/") for path in _PRIVATE):
        return "/staged/" + target.strip("/").replace("%", "%25").replace("/", "%2F")
    return target


def identities(sources: Sequence[str]) -> list[tuple[int, int]]:
    """Changes when something a root shows was replaced on the host, and the root is stale."""
    found = []
    for path in (*sources, "/etc/ld.so.cache"):
        try:
            status = os.stat(path)
            found.append((status.st_dev, status.st_ino))
        except OSError:
            found.append((0, 0))
    return found


def _etc_files(uid: int) -> dict[str, str]:
    return {
        "/etc/passwd": (
            "root:x:0:0:root:/:/usr/sbin/nologin\n"
            f"runner:x:{uid}:{uid}:runner:{WORKSPACE}:/bin/sh\n"
            "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"
        ),
        "/etc/group": f"root:x:0:\nrunner:x:{uid}:\nnogroup:x:65534:\n",
        "/etc/hosts": "127.0.0.1 localhost box\n::1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "/etc/resolv.conf": "",
        "/etc/hostname": "box\n",
        "/etc/timezone": "Etc/UTC\n",
    }


def build(
    mounts: Sequence[tuple[str, str]], uid: int, *, in_user_namespace: bool, terminal: bool
) -> int:
    """Build a root with the extra read-only `mounts` (host path, path inside), and with what
    programs with a terminal need. Returns an fd of its mount namespace. The work is done in a
    throwaway child, which leaves ours untouched."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        _run_child(theirs, mounts, uid, _devices(in_user_namespace, terminal))
    theirs.close()
    with ours:
        message, fds = protocol.receive_packet(ours)
    os.waitpid(pid, 0)
    if not fds:
        number, _, text = message.decode(errors="replace").partition(" ")
        raise OSError(int(number or 5), text or "building the root file system failed")
    return fds[0]


def _devices(in_user_namespace: bool, terminal: bool) -> list[tuple[str, str]]:
    """What is shown as it is, from where and at which place."""
    devices = [(path, path) for path in _DEVICES]
    if in_user_namespace:
        # There the kernel lets a box mount its own /proc only while another one is in sight.
        # The box unmounts this one as soon as it has its own.
        devices.append(("/proc", HOST_PROC))
    if terminal:
        devices += [(TERMINAL, TERMINAL), ("/dev/pts", HOST_TERMINALS)]
    return devices


def _run_child(
    channel: socket.socket,
    mounts: Sequence[tuple[str, str]],
    uid: int,
    devices: Sequence[tuple[str, str]],
) -> NoReturn:
    try:
        kernel.unshare(kernel.CLONE_NEWNS)
        namespace = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        _populate(mounts, uid, devices)
        socket.send_fds(channel, [b"ok"], [namespace])
    except OSError as error:
        channel.send(f"{error.errno} {error.strerror} {error.filename or ''}".encode())
    except BaseException as error:
        channel.send(f"5 {error!r}".encode())
    finally:
        os._exit(0)


def _populate(
    mounts: Sequence[tuple[str, str]], uid: int, shown: Sequence[tuple[str, str]]
) -> None:
    kernel.make_private("/")
    # Detached copies first: the new root is about to cover a directory they may lie in.
    system = [(path, path) for path in (*_SYSTEM, *_ETC) if not os.path.islink(path)]
    links = {path: os.readlink(path) for path in _SYSTEM if os.path.islink(path)}
    wanted = [(source, place_of(target)) for source, target in mounts]
    trees = _read_only_trees([*system, *wanted])
    devices = [_Tree(source, target) for source, target in shown]

    flags = kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV
    root = kernel.new_tmpfs({"size": "1m", "mode": "755"}, flags)
    base = "/tmp"
    kernel.attach_tree(root, base)
    _write_skeleton(base, uid, links)
    for tree in sorted([*trees, *devices], key=lambda tree: tree.target):
        tree.attach(base)

    os.chdir(base)
    kernel.pivot_root(".", ".")
    kernel.unmount(".")  # the old root now lies on top of the new one
    kernel.set_mount_attributes(root, kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID)
    os.close(root)


class _Tree:
    """A detached copy of a host path, and where it is to be seen."""

    def __init__(self, source: str, target: str) -> None:
        self.target = target
        self._shows_itself = source == target
        self._is_directory = os.path.isdir(source)
        self.fd = kernel.clone_tree(source)

    def attach(self, base: str) -> None:
        """Mount it, unless what was mounted before shows the same thing already."""
        place = base + self.target
        if not (self._shows_itself and os.path.exists(place)):
            _make_mount_point(place, directory=self._is_directory)
            kernel.attach_tree(self.fd, place)
        os.close(self.fd)


def _read_only_trees(pairs: Sequence[tuple[str, str]]) -> list[_Tree]:
    trees = [_Tree(source, target) for source, target in pairs if os.path.exists(source)]
    flags = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV
    for tree in trees:
        kernel.set_mount_attributes(tree.fd, flags)
    return trees


def _write_skeleton(base: str, uid: int, links: dict[str, str]) -> None:
    for directory in _DIRECTORIES:
        os.makedirs(base + directory, 0o755, exist_ok=True)
    for link, destination in {**_LINKS, **links}.items():
        os.symlink(destination, base + link)
    for path, text in _etc_files(uid).items():
        with open(base + path, "w", encoding="utf-8") as file:
            file.write(text)


def _make_mount_point(place: str, *, directory: bool) -> None:
    if directory:
        os.makedirs(place, 0o755, exist_ok=True)
        return
    os.makedirs(os.path.dirname(place), 0o755, exist_ok=True)
    if not os.path.exists(place):
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
