"""The system calls that Python's standard library does not offer, one thin function each.

Every function raises OSError with the name of the call, so that a failure in the middle of a
box's setup can say which step it was.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.prctl.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)

# The calls below are newer than the unified numbering, so all architectures agree on them.
_SYS_OPEN_TREE = 428
_SYS_MOVE_MOUNT = 429
_SYS_FSOPEN = 430
_SYS_FSCONFIG = 431
_SYS_FSMOUNT = 432
_SYS_MOUNT_SETATTR = 442
_SYS_LANDLOCK_CREATE_RULESET = 444
_SYS_LANDLOCK_ADD_RULE = 445
_SYS_LANDLOCK_RESTRICT_SELF = 446
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SYS_CLONE = {"x86_64": 56, "aarch64": 220}

MACHINE = platform.machine()
SUPPORTED_MACHINES = tuple(_SYS_CLONE)

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

_OPEN_TREE_CLONE = 1
_OPEN_TREE_CLOEXEC = os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 0x4
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


def _syscall(name: str, number: int, *args: object, about: str = "") -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *args))
    if result < 0:
        raise _fail(name, about)
    return result


def clone(flags: int) -> tuple[int, int]:
    """fork() into new namespaces. Returns the child's pid and pidfd, or (0, -1) in the child,
    whose interpreter is usable again."""
    pidfd = ctypes.c_int(-1)
    zero = ctypes.c_ulong(0)
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = int(
        _libc.syscall(
            ctypes.c_long(_SYS_CLONE[MACHINE]),
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
    _syscall("pivot_root", _SYS_PIVOT_ROOT[MACHINE], os.fsencode(new), os.fsencode(old))


def clone_tree(path: str) -> int:
    """A detached copy of the mount tree at `path`, as an fd."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | AT_RECURSIVE
    return _syscall(
        "open_tree",
        _SYS_OPEN_TREE,
        ctypes.c_int(AT_FDCWD),
        os.fsencode(path),
        ctypes.c_uint(flags),
        about=path,
    )


def attach_tree(tree_fd: int, target: str) -> None:
    """Mount a detached tree at `target`."""
    _syscall(
        "move_mount",
        _SYS_MOVE_MOUNT,
        ctypes.c_int(tree_fd),
        b"",
        ctypes.c_int(AT_FDCWD),
        os.fsencode(target),
        ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH),
        about=target,
    )


class _MountAttr(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def set_mount_attributes(tree_fd: int, attributes: int) -> None:
    """Set flags on a whole mount tree, submounts included."""
    attr = _MountAttr(attributes, 0, 0, 0)
    _syscall(
        "mount_setattr",
        _SYS_MOUNT_SETATTR,
        ctypes.c_int(tree_fd),
        b"",
        ctypes.c_uint(AT_EMPTY_PATH | AT_RECURSIVE),
        ctypes.byref(attr),
        ctypes.c_size_t(ctypes.sizeof(attr)),
    )


def new_tmpfs(options: dict[str, str], attributes: int) -> int:
    """A tmpfs that is mounted nowhere yet, as an fd which also serves as its root directory."""
    context = _syscall("fsopen tmpfs", _SYS_FSOPEN, b"tmpfs", ctypes.c_uint(_FSOPEN_CLOEXEC))
    try:
        for key, value in options.items():
            _fsconfig(context, _FSCONFIG_SET_STRING, key, value)
        _fsconfig(context, _FSCONFIG_CMD_CREATE, None, None)
        return _syscall(
            "fsmount",
            _SYS_FSMOUNT,
            ctypes.c_int(context),
            ctypes.c_uint(_FSMOUNT_CLOEXEC),
            ctypes.c_uint(attributes),
        )
    finally:
        os.close(context)


def _fsconfig(context: int, command: int, key: str | None, value: str | None) -> None:
    _syscall(
        "fsconfig",
        _SYS_FSCONFIG,
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


def set_capabilities(*, effective: int, permitted: int, inheritable: int = 0) -> None:
    """Set the capability sets of this process from bit masks."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    low, high = 0xFFFFFFFF, 32
    data = (ctypes.c_uint32 * 6)(
        effective & low, permitted & low, inheritable & low,
        effective >> high, permitted >> high, inheritable >> high,
    )  # fmt: skip
    if _libc.capset(ctypes.byref(header), ctypes.byref(data)) != 0:
        raise _fail("capset")


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def install_seccomp(program: bytes) -> None:
    """Install a BPF filter of 8-byte instructions. Needs no_new_privs."""
    descriptor = _FilterProgram(len(program) // 8, program)
    if _libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(descriptor), 0, 0) < 0:
        raise _fail("seccomp")


def landlock_create(attributes: bytes, flags: int = 0) -> int:
    return _syscall(
        "landlock_create_ruleset",
        _SYS_LANDLOCK_CREATE_RULESET,
        attributes or None,
        ctypes.c_size_t(len(attributes)),
        ctypes.c_uint(flags),
    )


def landlock_add_path(ruleset: int, rule: bytes) -> None:
    _syscall(
        "landlock_add_rule",
        _SYS_LANDLOCK_ADD_RULE,
        ctypes.c_int(ruleset),
        ctypes.c_int(1),
        rule,
        ctypes.c_uint(0),
    )


def landlock_restrict(ruleset: int) -> None:
    _syscall(
        "landlock_restrict_self",
        _SYS_LANDLOCK_RESTRICT_SELF,
        ctypes.c_int(ruleset),
        ctypes.c_uint(0),
    )
