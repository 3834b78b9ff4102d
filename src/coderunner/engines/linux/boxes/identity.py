"""Becoming nobody: the steps that take every privilege away from a box, and the look in the
mirror that proves it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import kernel
from .controls import read
from .plan import Argument, Plan, Slot

if TYPE_CHECKING:
    from .stages import Surroundings

INNER_ID = 1000  # uid and gid as the program sees them, on every host and in every mode
_SYS_ADMIN = 1 << 21
# Root gets no capabilities for being root, exec changes none, and none of this can be undone.
_SECURE_BITS = 0b11101111
_OWN_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")


def become_nobody(plan: Plan, uid: Argument, ids: Slot, around: Surroundings) -> None:
    """Take on an unprivileged uid in a user namespace of its own, without any capability.

    The namespace is owned by an unprivileged uid, so it rules over nothing; it gives the program
    the same uid everywhere and makes RLIMIT_NPROC count this box alone.
    """
    plan.stage("become nobody")
    if not around.in_user_namespace:
        plan.call("setgroups", 0, 0)
    # Keeping the capabilities across the change of uid lets hosts that forbid user namespaces
    # to ordinary users allow this one.
    plan.prctl(kernel.PR_SET_KEEPCAPS, 1)
    plan.call("setresgid", uid, uid, uid)
    plan.call("setresuid", uid, uid, uid)
    _set_capabilities(plan, _SYS_ADMIN)
    plan.prctl(kernel.PR_SET_DUMPABLE, 1)  # or the files below would belong to root
    plan.call("unshare", kernel.CLONE_NEWUSER, about="new user namespace")
    map_ids(plan, ids, ids)
    drop_capabilities(plan, around.last_capability)


def map_ids(plan: Plan, uids: str | Slot, gids: str | Slot) -> None:
    """Show a uid and a gid of the parent namespace as INNER_ID in this new one."""
    plan.write("/proc/self/setgroups", "deny")
    plan.write("/proc/self/uid_map", uids)
    plan.write("/proc/self/gid_map", gids)


def id_map(host_id: int) -> str:
    return f"{INNER_ID} {host_id} 1"


def drop_capabilities(plan: Plan, last_capability: int) -> None:
    plan.prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(last_capability + 1):
        plan.prctl(kernel.PR_CAPBSET_DROP, capability)
    plan.prctl(kernel.PR_SET_SECUREBITS, _SECURE_BITS)
    _set_capabilities(plan, 0)
    plan.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def _set_capabilities(plan: Plan, mask: int) -> None:
    header, sets = kernel.capability_sets(effective=mask, permitted=mask)
    plan.call("capset", plan.data(header), plan.data(sets))


def keep_capabilities(last_capability: int) -> None:
    """Have all of them survive the next exec, also where the uid is not 0."""
    everything = (1 << last_capability + 1) - 1
    kernel.set_capabilities(effective=everything, permitted=everything, inheritable=everything)
    for capability in range(last_capability + 1):
        kernel.prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_RAISE, capability)


def last_capability() -> int:
    return int(read("/proc/sys/kernel/cap_last_cap"))


# Of /proc/self/status.
_EXPECTED = (
    f"Uid:\t{INNER_ID}\t{INNER_ID}\t{INNER_ID}\t{INNER_ID}",
    f"Gid:\t{INNER_ID}\t{INNER_ID}\t{INNER_ID}\t{INNER_ID}",
    "CapInh:\t0000000000000000",
    "CapPrm:\t0000000000000000",
    "CapEff:\t0000000000000000",
    "CapBnd:\t0000000000000000",
    "CapAmb:\t0000000000000000",
    "NoNewPrivs:\t1",
    "Seccomp:\t2",
)


def namespaces() -> dict[str, str]:
    """The namespaces that this process is in, as the kernel names them."""
    return {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in _OWN_NAMESPACES}


def check_own(plan: Plan, kind: str, outside: str) -> None:
    plan.elsewhere(f"/proc/self/ns/{kind}", outside, f"{kind} namespace of its own")


def check_self(plan: Plan, outside: Mapping[str, str]) -> None:
    """Read back what the kernel says of this process; it is its end if a control is missing.
    `outside` are the namespaces of the spawner: a box shares none of them."""
    plan.stage("self check")
    plan.endings("/proc/self/status", _EXPECTED)
    for kind, name in outside.items():
        check_own(plan, kind, name)
    probe = "/written"
    plan.refused("mkdirat", kernel.AT_FDCWD, probe, 0o700, by=errno.EROFS, about="read-only root")
    # That a filter is there does not say what it refuses; so ask for something, which does nothing
    # and succeeds where nobody minds.
    plan.refused("unshare", 0, by=errno.EPERM, about="system-call filter")
