"""Becoming nobody: the steps that take every privilege away from a box, and the look in the
mirror that proves it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from . import kernel
from .controls import read, write

INNER_ID = 1000  # uid and gid as the program sees them, on every host and in every mode
_SYS_ADMIN = 1 << 21
# Root gets no capabilities for being root, exec changes none, and none of this can be undone.
_SECURE_BITS = 0b11101111
_OWN_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")


class NotIsolated(Exception):
    """A control that should hold does not. The box must not start."""


def become_nobody(host_uid: int, last_capability: int) -> None:
    """Take on an unprivileged uid in a user namespace of its own, without any capability.

    The namespace is owned by an unprivileged uid, so it rules over nothing; it gives the program
    the same uid everywhere and makes RLIMIT_NPROC count this box alone.
    """
    if os.geteuid() == 0:
        os.setgroups([])
    # Keeping the capabilities across the change of uid lets hosts that forbid user namespaces
    # to ordinary users allow this one.
    kernel.prctl(kernel.PR_SET_KEEPCAPS, 1)
    os.setresgid(host_uid, host_uid, host_uid)
    os.setresuid(host_uid, host_uid, host_uid)
    kernel.set_capabilities(effective=_SYS_ADMIN, permitted=_SYS_ADMIN)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # or the files below would belong to root
    kernel.unshare(kernel.CLONE_NEWUSER)
    map_ids(host_uid, host_uid)
    drop_capabilities(last_capability)


def map_ids(uid: int, gid: int) -> None:
    """Show `uid` and `gid` of the parent namespace as INNER_ID in this new one."""
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{INNER_ID} {uid} 1")
    write("/proc/self/gid_map", f"{INNER_ID} {gid} 1")


def drop_capabilities(last_capability: int) -> None:
    kernel.prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(last_capability + 1):
        kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    kernel.prctl(kernel.PR_SET_SECUREBITS, _SECURE_BITS)
    kernel.set_capabilities(effective=0, permitted=0)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def keep_capabilities(last_capability: int) -> None:
    """Have all of them survive the next exec, also where the uid is not 0."""
    everything = (1 << last_capability + 1) - 1
    kernel.set_capabilities(effective=everything, permitted=everything, inheritable=everything)
    for capability in range(last_capability + 1):
        kernel.prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_RAISE, capability)


def last_capability() -> int:
    return int(read("/proc/sys/kernel/cap_last_cap"))


_EXPECTED = {
    "Uid": f"{INNER_ID}\t{INNER_ID}\t{INNER_ID}\t{INNER_ID}",
    "Gid": f"{INNER_ID}\t{INNER_ID}\t{INNER_ID}\t{INNER_ID}",
    "CapInh": "0000000000000000",
    "CapPrm": "0000000000000000",
    "CapEff": "0000000000000000",
    "CapBnd": "0000000000000000",
    "CapAmb": "0000000000000000",
    "NoNewPrivs": "1",
    "Seccomp": "2",
}


def namespaces() -> dict[str, str]:
    """The namespaces that this process is in, as the kernel names them."""
    return {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in _OWN_NAMESPACES}


def check_self(outside: Mapping[str, str]) -> None:
    """Read back what the kernel says of this process; raise NotIsolated if a control is missing.
    `outside` are the namespaces of the spawner: a box shares none of them."""
    lines = read("/proc/self/status").splitlines()
    found = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    for field, expected in _EXPECTED.items():
        if found.get(field) != expected:
            raise NotIsolated(f"{field} is {found.get(field)!r}, expected {expected!r}")
    shared = [kind for kind, name in namespaces().items() if name == outside[kind]]
    if shared:
        raise NotIsolated(f"the box has no {shared[0]} namespace of its own")
    if not os.statvfs("/").f_flag & os.ST_RDONLY:
        raise NotIsolated("the root is not read-only")
    _check_filter()


def _check_filter() -> None:
    """That a filter is there does not say what it refuses; so ask for something."""
    try:
        kernel.unshare(0)  # does nothing, and succeeds where nobody minds
    except OSError as error:
        if error.errno == errno.EPERM:
            return
    raise NotIsolated("the system-call filter refuses nothing")
