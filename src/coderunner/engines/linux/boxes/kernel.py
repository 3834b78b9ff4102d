"""The system calls that Python's standard library does not offer, one thin function each.

Every function raises OSError with the name of the call, so that a failure in the middle of a
box's setup can say which step it was.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from collections.abc import Sequence

from . import syscalls

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.prctl.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)

MACHINE = os.uname().machine
SUPPORTED_MACHINES = syscalls.MACHINES
_NUMBERS = syscalls.every_number(MACHINE) if MACHINE in SUPPORTED_MACHINES else {}

AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000

_CLONE_PIDFD = 0x00001000
CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

_NAMESPACES = {
    CLONE_NEWUSER: "user",
    CLONE_NEWNS: "mount",
    CLONE_NEWPID: "pid",
    CLONE_NEWNET: "network",
    CLONE_NEWIPC: "ipc",
    CLONE_NEWUTS: "uts",
    CLONE_NEWCGROUP: "cgroup",
}

MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4

OPEN_TREE_CLONE = 1
MOVE_MOUNT_F_EMPTY_PATH = 0x4
_FSOPEN_CLOEXEC = 1
_FSMOUNT_CLOEXEC = 1
_FSCONFIG_SET_STRING = 1
_FSCONFIG_CMD_CREATE = 6

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_CAPBSET_DROP = 24
PR_SET_SECUREBITS = 28
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
PR_CAP_AMBIENT_RAISE = 2
SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522


def _fail(call: str, about: str = "") -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{call}: {os.strerror(number)}", about or None)


def _syscall(name: str, *args: object, about: str = "") -> int:
    result = int(_libc.syscall(ctypes.c_long(_NUMBERS[name]), *args))
    if result < 0:
        raise _fail(name, about)
    return result


def syscall(number: int, args: Sequence[int]) -> int:
    """Any one, with numbers and addresses only."""
    result = int(_libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, args)))
    if result < 0:
        raise _fail(f"system call {number}")
    return result


def clone(flags: int) -> tuple[int, int]:
    """fork() into new namespaces. Returns the child's pid and pidfd, or (0, -1) in the child,
    whose interpreter is usable again."""
    pidfd = ctypes.c_int(-1)
    zero = ctypes.c_ulong(0)
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = int(
        _libc.syscall(
            ctypes.c_long(_NUMBERS["clone"]),
            ctypes.c_ulong(flags | _CLONE_PIDFD | signal.SIGCHLD),
            zero,
            ctypes.byref(pidfd),
            zero,
            zero,
        )
    )
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0, -1
    error = _fail("clone") if pid < 0 else None
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if error:
        raise error
    return pid, pidfd.value


def unshare(flags: int) -> None:
    if _libc.unshare(ctypes.c_int(flags)) != 0:
        names = " and ".join(name for flag, name in _NAMESPACES.items() if flags & flag)
        raise _fail(f"new {names} namespace")


def setns(fd: int, kind: int) -> None:
    if _libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)) != 0:
        raise _fail("setns")


def mount(source: str, target: str, fstype: str, flags: int, data: str = "") -> None:
    done = _libc.mount(
        source.encode(),
        os.fsencode(target),
        fstype.encode(),
        ctypes.c_ulong(flags),
        os.fsencode(data),
    )
    if done != 0:
        raise _fail("mount", target)


def bind(source: str, target: str) -> None:
    if _libc.mount(os.fsencode(source), os.fsencode(target), None, ctypes.c_ulong(MS_BIND), None):
        raise _fail("bind mount", target)


def make_private(path: str) -> None:
    if _libc.mount(None, path.encode(), None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None):
        raise _fail("mount --make-rprivate", path)


def unmount(path: str) -> None:
    if _libc.umount2(os.fsencode(path), ctypes.c_int(MNT_DETACH)) != 0:
        raise _fail("umount", path)


def pivot_root(new: str, old: str) -> None:
    _syscall("pivot_root", os.fsencode(new), os.fsencode(old))


def clone_tree(path: str) -> int:
    """A detached copy of the mount tree at `path`, as an fd."""
    flags = OPEN_TREE_CLONE | os.O_CLOEXEC | AT_RECURSIVE
    return _syscall(
        "open_tree",
        ctypes.c_int(AT_FDCWD),
        os.fsencode(path),
        ctypes.c_uint(flags),
        about=path,
    )


def attach_tree(tree_fd: int, target: str) -> None:
    """Mount a detached tree at `target`."""
    _syscall(
        "move_mount",
        ctypes.c_int(tree_fd),
        b"",
        ctypes.c_int(AT_FDCWD),
        os.fsencode(target),
        ctypes.c_uint(MOVE_MOUNT_F_EMPTY_PATH),
        about=target,
    )


MOUNT_ATTR_SIZE = 32


def mount_attributes(attributes: int) -> bytes:
    """struct mount_attr: to set, to clear, propagation, user namespace."""
    return struct.pack("<4Q", attributes, 0, 0, 0)


def set_mount_attributes(tree_fd: int, attributes: int) -> None:
    """Set flags on a whole mount tree, submounts included."""
    _syscall(
        "mount_setattr",
        ctypes.c_int(tree_fd),
        b"",
        ctypes.c_uint(AT_EMPTY_PATH | AT_RECURSIVE),
        mount_attributes(attributes),
        ctypes.c_size_t(MOUNT_ATTR_SIZE),
    )


def new_tmpfs(options: dict[str, str], attributes: int) -> int:
    """A tmpfs that is mounted nowhere yet, as an fd which also serves as its root directory."""
    context = _syscall("fsopen", b"tmpfs", ctypes.c_uint(_FSOPEN_CLOEXEC))
    try:
        for key, value in options.items():
            _fsconfig(context, _FSCONFIG_SET_STRING, key, value)
        _fsconfig(context, _FSCONFIG_CMD_CREATE, None, None)
        return _syscall(
            "fsmount",
            ctypes.c_int(context),
            ctypes.c_uint(_FSMOUNT_CLOEXEC),
            ctypes.c_uint(attributes),
        )
    finally:
        os.close(context)


def _fsconfig(context: int, command: int, key: str | None, value: str | None) -> None:
    _syscall(
        "fsconfig",
        ctypes.c_int(context),
        ctypes.c_uint(command),
        key.encode() if key is not None else None,
        value.encode() if value is not None else None,
        ctypes.c_int(0),
        about=key or "",
    )


def prctl(option: int, argument: int = 0, more: int = 0) -> None:
    if _libc.prctl(option, argument, more, 0, 0) < 0:
        raise _fail(f"prctl({option})")


def capability_sets(*, effective: int, permitted: int, inheritable: int = 0) -> tuple[bytes, bytes]:
    """What capset() takes: a header, and the sets in two halves."""
    sets = (effective, permitted, inheritable)
    halves = [mask & 0xFFFFFFFF for mask in sets] + [mask >> 32 for mask in sets]
    return struct.pack("<II", _CAPABILITY_VERSION_3, 0), struct.pack("<6I", *halves)


def set_capabilities(*, effective: int, permitted: int, inheritable: int = 0) -> None:
    """Set the capability sets of this process from bit masks."""
    header, sets = capability_sets(
        effective=effective, permitted=permitted, inheritable=inheritable
    )
    if _libc.capset(header, sets) != 0:
        raise _fail("capset")


def trim_memory() -> None:
    """Give back what is free: starting up has taken more than it needs to go on."""
    if hasattr(_libc, "malloc_trim"):  # which not every C library has
        _libc.malloc_trim(ctypes.c_size_t(0))


def landlock_abi() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    try:
        version_query = ctypes.c_uint(1)
        return _syscall("landlock_create_ruleset", None, ctypes.c_size_t(0), version_query)
    except OSError:
        return 0
