"""The stages in which process 1 of a box sets up its world and walls itself in.

What is done, and in which order; who does it is the business of `player.c` and `player.py`.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from . import identity, kernel, landlock, rootfs, seccomp
from .plan import Data, Kept, Plan, Slot, Template

# The descriptors that process 1 is given, under the numbers that it knows them by.
CHANNEL, ROOT, SCRATCH, FIRST_CGROUP = range(3, 7)
# What differs between boxes of one kind.
UID = Slot("uid")
IDS = Slot("ids", 64)  # a line of /proc/self/uid_map
CGROUP = Slot("cgroup", 64)  # how the path of its cgroup ends
# All of this machine's terminals: kept for Landlock's sake alone, out of the program's sight.
_TERMINALS = Kept(3)

_ALL_DESCRIPTORS = 0xFFFFFFFF
_OWN_NAMESPACES = kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_SHARED_DIRECTORIES = (("tmp", "/tmp"), ("shm", "/dev/shm"))
# More than any program may have, so that the sampler sees it pass its limit before it is refused
# more. Not too many: each one makes a look longer.
_SPARE_TASKS = 128


class Surroundings(NamedTuple):
    """What all boxes of a spawner have in common."""

    in_user_namespace: bool
    metered: bool  # there are cgroups
    landlock: int  # its version, 0 for none
    last_capability: int
    namespaces: Mapping[str, str]  # those of the spawner
    priority: int  # for programs: the caller's


class Kind(NamedTuple):
    """What all boxes of a kind have in common."""

    limits: Mapping[str, Any]
    mounts: Sequence[Sequence[Any]]  # source, target, and whether writes to it are thrown away
    cgroups: int  # hierarchies
    terminal: bool = False  # the program runs in one
    directory: str = rootfs.WORKSPACE  # where it finds its files, and itself

    @property
    def scratch_mounts(self) -> list[str]:
        return [target for _, target, scratch in self.mounts if scratch]


def shown(mounts: Sequence[Sequence[Any]]) -> list[tuple[str, bool]]:
    """Where a box has something of the host's, and whether it is a directory."""
    return [(target, os.path.isdir(source)) for source, target, _ in mounts]


def write_down(around: Surroundings, kind: Kind) -> Template:
    plan = Plan(kernel.MACHINE)
    close_others(plan, kind)
    enter_root(plan, around, kind)
    raise_network(plan, around)
    join_cgroup(plan, kind)
    wall_in(plan, around, kind)
    limit(plan, around, kind)
    return plan.template()


def values(uid: int, cgroup: str) -> dict[str, int | str]:
    """What the slots stand for in one box."""
    return {UID.name: uid, IDS.name: identity.id_map(uid), CGROUP.name: f"/{cgroup}"}


def close_others(plan: Plan, kind: Kind) -> None:
    """Close everything the spawner had open, but for what process 1 is given. The spawner's stdin
    is the line to the caller, which is none of our business either."""
    plan.stage("close others")
    plan.call("umask", 0)
    null = plan.open(1, "/dev/null", os.O_RDWR)
    for number in (0, 1, 2):
        plan.call("dup3", null, number, 0)
    _close_all_after(plan, SCRATCH + kind.cgroups)


def _close_all_after(plan: Plan, last: int) -> None:
    plan.call("close_range", last + 1, _ALL_DESCRIPTORS, 0)


def enter_root(plan: Plan, around: Surroundings, kind: Kind) -> None:
    plan.stage("enter root")
    plan.call("setns", ROOT, kernel.CLONE_NEWNS)
    _unshare(plan, kernel.CLONE_NEWNS, "mount")
    for name, _ in _SHARED_DIRECTORIES:
        plan.call("mkdirat", SCRATCH, name, 0o1777)
    plan.call("mkdirat", SCRATCH, "workspace", 0o755)
    plan.call("fchownat", SCRATCH, "workspace", UID, UID, 0)
    _attach(plan, SCRATCH, rootfs.SCRATCH)
    # One directory may be the workspace as well.
    for name, target in (*_SHARED_DIRECTORIES, ("workspace", rootfs.WORKSPACE)):
        own = "workspace" if target == kind.directory else name
        _bind(plan, f"{rootfs.SCRATCH}/{own}", target)
    show(plan, shown(kind.mounts))
    for number, target in enumerate(kind.scratch_mounts):
        _overlay(plan, around, number, target)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    mount(plan, "proc", "/proc", flags, "hidepid=2")
    _trim_proc(plan, around)
    if around.in_user_namespace:
        plan.call("umount2", rootfs.HOST_PROC, kernel.MNT_DETACH)
    if kind.terminal:
        terminals = plan.open(_TERMINALS.register, rootfs.HOST_TERMINALS, os.O_PATH)
        assert terminals == _TERMINALS
        plan.call("umount2", rootfs.HOST_TERMINALS, kernel.MNT_DETACH)
    plan.call("umount2", rootfs.SCRATCH, kernel.MNT_DETACH)
    plan.call("chdir", kind.directory)


def _unshare(plan: Plan, flags: int, names: str) -> None:
    plan.call("unshare", flags, about=f"new {names} namespace")


def _attach(plan: Plan, tree: int | Kept, target: str) -> None:
    flags = kernel.MOVE_MOUNT_F_EMPTY_PATH
    plan.call("move_mount", tree, "", kernel.AT_FDCWD, target, flags, about=f"mount {target}")


def _bind(plan: Plan, source: str, target: str) -> None:
    plan.call("mount", source, target, 0, kernel.MS_BIND, 0, about=f"bind mount {target}")


def mount(plan: Plan, kind: str, target: str, flags: int, options: str = "") -> None:
    plan.call("mount", kind, target, kind, flags, options, about=f"mount {target}")


def show(plan: Plan, targets: Iterable[tuple[str, bool]]) -> None:
    """Put what the root keeps in a corner to where a program expects it: see rootfs.place_of."""
    for target, is_directory in targets:
        place = rootfs.place_of(target)
        if place != target:
            _make_mount_point(plan, target, is_directory)
            _bind(plan, place, target)


def _make_mount_point(plan: Plan, target: str, is_directory: bool) -> None:
    names = target.strip("/").split("/")
    for depth in range(1, len(names) + is_directory):
        plan.make_directory("/" + "/".join(names[:depth]), there=True)
    if not is_directory:
        plan.open(1, target, os.O_CREAT | os.O_RDONLY)


def _overlay(plan: Plan, around: Surroundings, number: int, target: str) -> None:
    """Make a read-only directory look writable, with the writes going into the box's tmpfs."""
    base = f"{rootfs.SCRATCH}/overlay{number}"
    for directory in (base, f"{base}/upper", f"{base}/work"):
        plan.make_directory(directory)
    plan.call("fchownat", kernel.AT_FDCWD, f"{base}/upper", UID, UID, 0)
    options = f"lowerdir={target},upperdir={base}/upper,workdir={base}/work"
    if around.in_user_namespace:
        options += ",userxattr"
    mount(plan, "overlay", target, kernel.MS_NOSUID | kernel.MS_NODEV, options)


def _trim_proc(plan: Plan, around: Surroundings) -> None:
    """What a program has no business with, and the rest of the walls would let it have."""
    # Locks of open files are those of the whole machine. Keys are those of the same user, which for
    # an ordinary one is the caller's.
    hidden = ("/proc/locks", "/proc/keys") if around.in_user_namespace else ("/proc/locks",)
    for path in hidden:
        if os.path.exists(path):
            _bind(plan, "/etc/resolv.conf", path)  # which is empty
    if not around.landlock and os.path.exists("/proc/pressure"):
        # Everybody may ask for warnings there, thousands of which take seconds to put away.
        _make_read_only(plan, "/proc/pressure")


def _make_read_only(plan: Plan, path: str) -> None:
    flags = kernel.OPEN_TREE_CLONE | kernel.AT_RECURSIVE | os.O_CLOEXEC
    tree = plan.keep(1, "open_tree", kernel.AT_FDCWD, path, flags)
    attributes = plan.data(kernel.mount_attributes(kernel.MOUNT_ATTR_RDONLY))
    size = kernel.MOUNT_ATTR_SIZE
    flags = kernel.AT_EMPTY_PATH | kernel.AT_RECURSIVE
    plan.call("mount_setattr", tree, "", flags, attributes, size, about=path)
    _attach(plan, tree, path)
    plan.call("close", tree)


def raise_network(plan: Plan, around: Surroundings) -> None:
    """Give the box a name and its own loopback, the only network it has."""
    plan.stage("network")
    _unshare(plan, _OWN_NAMESPACES, "network, ipc or uts")
    for own in ("net", "uts"):  # or what follows would change the host's
        identity.check_own(plan, own, around.namespaces[own])
    plan.call("sethostname", "box", len("box"))
    control = plan.keep(1, "socket", socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, 0)
    request = plan.data(struct.pack("16sh22x", b"lo", _IFF_UP))
    plan.call("ioctl", control, _SIOCSIFFLAGS, request, about="loopback up")
    plan.call("close", control)
    for name in ("tcp_rmem", "tcp_wmem"):  # or one connection could hold megabytes
        plan.write(f"/proc/sys/net/ipv4/{name}", "4096 65536 262144")


def join_cgroup(plan: Plan, kind: Kind) -> None:
    plan.stage("join cgroup")
    # A program of strangers' is never real-time, whoever has asked for it: nobody else would get
    # a turn. And cgroups of version 1 take none in.
    if os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR):
        plan.call("sched_setscheduler", 0, os.SCHED_OTHER, plan.data(bytes(8)))
    # When the machine itself runs out of memory, a box goes before anything else.
    plan.write("/proc/self/oom_score_adj", "1000")
    for entrance in range(FIRST_CGROUP, FIRST_CGROUP + kind.cgroups):
        plan.call("write", entrance, "0", 1)
    if kind.cgroups:
        plan.endings("/proc/self/cgroup", [CGROUP], times=kind.cgroups)
    _unshare(plan, kernel.CLONE_NEWCGROUP, "cgroup")


def wall_in(plan: Plan, around: Surroundings, kind: Kind) -> None:
    identity.become_nobody(plan, UID, IDS, around)
    if around.landlock:
        writable = ("/tmp", "/dev/shm", rootfs.WORKSPACE, *kind.scratch_mounts)
        existing: tuple[str | Kept, ...] = ("/dev/null", "/dev/full")
        if kind.terminal:
            existing += (rootfs.TERMINAL, _TERMINALS)
        landlock.restrict(plan, around.landlock, writable=writable, existing=existing)
    plan.stage("process 1")
    plan.call("umask", 0o022)
    # Same uid as the program, so nothing of process 1 may be open to it; and with this it is
    # invisible in /proc, too (hidepid).
    plan.prctl(kernel.PR_SET_DUMPABLE, 0)
    plan.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    _install_filter(plan, around, kind)
    identity.check_self(plan, around.namespaces)
    # Nothing of the setup may live on. (All of it is close-on-exec, too.)
    _close_all_after(plan, CHANNEL)


def _install_filter(plan: Plan, around: Surroundings, kind: Kind) -> None:
    plan.stage("seccomp")
    instructions = seccomp.build(kernel.MACHINE, metered=around.metered, terminal=kind.terminal)
    size = len(instructions) // 8
    descriptor: Data = plan.data(struct.pack("<Hxxxxxxq", size, 0))
    plan.store(descriptor, 8, plan.data(instructions))
    mode = kernel.SECCOMP_MODE_FILTER
    plan.prctl(kernel.PR_SET_SECCOMP, mode, descriptor, about="filter")


def limit(plan: Plan, around: Surroundings, kind: Kind) -> None:
    plan.stage("limit")
    limits = kind.limits
    plan.call("setpriority", os.PRIO_PROCESS, 0, around.priority)
    # Where dumps go to a program of the host's, only exactly 1 means none (and 1 byte is none).
    _set_limit(plan, resource.RLIMIT_CORE, 1)
    _set_limit(plan, resource.RLIMIT_FSIZE, limits["disk_mb"] << 20)
    # Programs may raise this one, as contest solutions do: the stack is memory and counted as such.
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    _set_limit(plan, resource.RLIMIT_STACK, limits["stack_mb"] << 20, hard)
    _set_limit(plan, resource.RLIMIT_MEMLOCK, 64 << 10)
    for nothing in (resource.RLIMIT_MSGQUEUE, resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE):
        _set_limit(plan, nothing, 0)
    if not kind.cgroups:
        # Counts this box alone, because it has a user namespace of its own.
        _set_limit(plan, resource.RLIMIT_NPROC, limits["processes"] + _SPARE_TASKS)


def _set_limit(plan: Plan, kind: int, soft: int, hard: int | None = None) -> None:
    soft = at_most(kind, soft)
    hard = soft if hard is None else hard
    both = plan.data(struct.pack("<qq", soft, hard))  # no limit is -1, to both
    plan.call("prlimit64", 0, kind, both, 0, about=f"setrlimit({kind})")


def at_most(kind: int, value: int) -> int:
    """No more than this process may have: a box inherits its limits."""
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)
