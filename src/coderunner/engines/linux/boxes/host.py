"""Getting ready on this machine: which rights the spawner has, and how it gets those it needs.

Everything is found out by trying. What cannot be had is explained, with the way to get it.
"""

from __future__ import annotations

import errno
import os
from typing import Any, NamedTuple

from . import cgroup_place, identity, kernel, player, rootfs
from .making import Maker, Order, meters
from .plan import Plan

_USERNS_HINT = (
    "allow user namespaces: sysctl user.max_user_namespaces=15000, and for ordinary users "
    "kernel.unprivileged_userns_clone=1; inside a container its seccomp profile must allow them, "
    "too (--security-opt seccomp=deploy/seccomp.json, see docs/deploy.md)"
)
_APPARMOR_HINT = (
    "the user namespace was created but has no rights, as on Ubuntu 24.04: "
    "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or run as root"
)
_USER_HINT = (
    "run as root, or let user namespaces do what a box needs: inside a container show all of /proc "
    "(--security-opt systempaths=unconfined for Docker, unmask=ALL for Podman); on Ubuntu 24.04 "
    "sysctl kernel.apparmor_restrict_unprivileged_userns=0"
)
_ROOT_HINT = (
    "run with all rights of root, CAP_SYS_ADMIN above all, and allow user namespaces (sysctl "
    "user.max_user_namespaces=15000); in a container run as an ordinary user (docs/deploy.md)"
)
_SECCOMP_HINT = (
    "use a kernel with CONFIG_SECCOMP_FILTER; inside a container its own profile must allow "
    "prctl and seccomp"
)
# Before that RLIMIT_NPROC counted all processes of a user, not those of a user namespace.
_OLDEST_KERNEL = (5, 14)
_TRIAL_LIMITS = {
    "memory_mb": 64,
    "processes": 8,
    "disk_mb": 1,
    "files": 100,
    "open_files": 64,
    "stack_mb": 8,
    "cpus": None,
    "address_space_mb": None,
}


class Unsuitable(Exception):
    """This machine cannot hold a box; the message says why, `hint` what would help."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Host(NamedTuple):
    cgroups: cgroup_place.Place | None
    why_no_cgroup: str

    def facts(self) -> dict[str, Any]:
        return {
            "user_namespace": os.geteuid() != 0,
            "cgroup": self.cgroups.version if self.cgroups else 0,
            "throttles": self.cgroups is not None and self.cgroups.throttles,
            "why_no_cgroup": self.why_no_cgroup,
            "landlock": kernel.landlock_abi(),
            "kernel": os.uname().release,
        }


def prepare() -> Host:
    """Take the rights the spawner needs."""
    if kernel.MACHINE not in kernel.SUPPORTED_MACHINES:
        supported = " and ".join(kernel.SUPPORTED_MACHINES)
        raise Unsuitable(
            f"no system-call filter for {kernel.MACHINE}", f"use a machine with {supported}"
        )
    if _kernel_version() < _OLDEST_KERNEL:
        oldest = ".".join(map(str, _OLDEST_KERNEL))
        raise Unsuitable(f"Linux {os.uname().release} is too old", f"use Linux {oldest} or newer")
    cgroups, why = _find_cgroups()
    if not _is_root_of_the_machine():
        _enter_user_namespace()
    return Host(cgroups, why)


def _kernel_version() -> tuple[int, ...]:
    """The first two numbers of `6.1.0-13-amd64`. What is no number is new enough."""
    numbers = os.uname().release.split(".")[:2]
    return tuple(int(number) if number.isdigit() else 999 for number in numbers)


def _is_root_of_the_machine() -> bool:
    """Not only that of a user namespace, as in a rootless container: such a root is treated as the
    ordinary user it is outside."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        ids = file.read().split()
    return os.geteuid() == 0 and ids == ["0", "0", "4294967295"]


def _find_cgroups() -> tuple[cgroup_place.Place | None, str]:
    try:
        return cgroup_place.find(), ""
    except cgroup_place.Unusable as error:
        return None, str(error)
    except OSError as error:
        return None, f"{error.filename}: {error.strerror}"


def _enter_user_namespace() -> None:
    uid, gid = os.geteuid(), os.getegid()
    try:
        # The mount namespace comes along because only its owner may make a tmpfs.
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)
    except OSError as error:
        raise Unsuitable(f"no user namespace to be had ({error.strerror})", _USERNS_HINT) from error
    plan = Plan(kernel.MACHINE)
    plan.stage("the user namespace cannot be used")
    identity.map_ids(plan, identity.id_map(uid), identity.id_map(gid))
    try:
        player.play(plan.template().content)
    except player.Failed as error:
        raise Unsuitable(str(error), _APPARMOR_HINT) from error
    # There we are no root, and would lose them with the next exec, that of a process 1 or of a warm
    # interpreter. Boxes give them up themselves.
    identity.keep_capabilities(identity.last_capability())


def try_walls(maker: Maker) -> None:
    """Make a box and throw it away: the surest test of mounts, namespaces and all the rest."""
    hint = _USER_HINT if os.geteuid() != 0 else _ROOT_HINT
    try:
        box = maker.make(
            Order({"limits": _TRIAL_LIMITS, "mounts": [], "directory": rootfs.WORKSPACE})
        )
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            hint = "raise the limit of open files: ulimit -n"
        raise Unsuitable(f"no box can be made ({error.strerror})", hint) from error
    word = box.report()
    metered = box.cgroup is None or box.cgroup.holds(meters(_TRIAL_LIMITS))
    box.kill()
    box.close()
    maker.release(box)
    if "ready" not in word:
        why = word.get("failed", "it died while it was set up")
        if "seccomp" in why:
            hint = _SECCOMP_HINT
        raise Unsuitable(f"no box can be set up ({why})", hint)
    if not metered:
        raise Unsuitable("the limits of a cgroup have no effect here", _ROOT_HINT)
