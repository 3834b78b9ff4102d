"""Process 1 of a box: sets up its world, walls itself in, starts the program, reports its end.

Runs in a fresh clone of the spawner. Nothing here returns; the last words go into a pipe that
only the spawner reads.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import resource
import signal
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from . import identity, kernel, landlock, rootfs

NAMESPACES = kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
_COPY_CHUNK = 1 << 20
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_SHARED_DIRECTORIES = (("tmp", "/tmp"), ("shm", "/dev/shm"))
# More than any program may have, so that the sampler sees it pass its limit.
_SPARE_TASKS = 16

_metered_since = 0.0  # our own cpu time when we moved into the cgroup


@dataclass(frozen=True)
class Plan:
    """All that process 1 needs to know. File descriptors are the spawner's, inherited."""

    argv: Sequence[str]
    env: Mapping[str, str]
    limits: Mapping[str, Any]
    shown: Sequence[str]  # paths of the host's that the root has for this box
    scratch_mounts: Sequence[str]  # paths that look writable; what is written is thrown away
    uid: int
    stdio: Sequence[int]
    workspace: int
    status: int
    root: int
    scratch: int
    cgroup: Sequence[int]
    cgroup_name: str
    seccomp: bytes
    landlock: int
    last_capability: int
    in_user_namespace: bool


def run(plan: Plan) -> NoReturn:
    """The whole life of process 1."""
    step = "preparing"
    try:
        for stage in (_take_fds, _enter_root, _raise_network, _join_cgroup, _limit, _wall_in):
            step = stage.__name__.strip("_").replace("_", " ")
            stage(plan)
    except BaseException as error:
        _report(plan, {"failed": f"{step}: {error}", "errno": getattr(error, "errno", 0)})
        os._exit(1)
    _live(plan)


def _take_fds(plan: Plan) -> None:
    """Keep what the plan names and close everything else the spawner had open."""
    os.umask(0)
    for number, fd in enumerate(plan.stdio):
        os.dup2(fd, number)
    _close_all_but({plan.workspace, plan.status, plan.root, plan.scratch, *plan.cgroup})


def _close_all_but(fds: set[int]) -> None:
    kept = sorted({0, 1, 2} | fds)
    end = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    for before, after in itertools.pairwise([*kept, end]):
        if after > before + 1:
            os.closerange(before + 1, after)


def _enter_root(plan: Plan) -> None:
    kernel.setns(plan.root, kernel.CLONE_NEWNS)
    kernel.unshare(kernel.CLONE_NEWNS)
    _fill_scratch(plan)
    kernel.attach_tree(plan.scratch, rootfs.SCRATCH)
    for name, target in (*_SHARED_DIRECTORIES, ("workspace", rootfs.WORKSPACE)):
        kernel.bind(f"{rootfs.SCRATCH}/{name}", target)
    for target in plan.shown:
        if rootfs.place_of(target) != target:
            _show(rootfs.place_of(target), target)
    for number, target in enumerate(plan.scratch_mounts):
        _overlay(plan, number, target)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("proc", "/proc", "proc", flags, "hidepid=2")
    if plan.in_user_namespace:
        kernel.unmount(rootfs.HOST_PROC)
    kernel.unmount(rootfs.SCRATCH)
    os.chdir(rootfs.WORKSPACE)


def _fill_scratch(plan: Plan) -> None:
    for name, _ in _SHARED_DIRECTORIES:
        os.mkdir(name, 0o1777, dir_fd=plan.scratch)
    os.mkdir("workspace", 0o755, dir_fd=plan.scratch)
    target = os.open("workspace", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=plan.scratch)
    _copy_tree(plan.workspace, target, plan.uid)
    os.close(target)


def _copy_tree(source: int, target: int, uid: int) -> None:
    """Copy what the caller put into the workspace, and give it to the box's user."""
    os.fchown(target, uid, uid)
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                os.mkdir(entry.name, 0o755, dir_fd=target)
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                inner = os.open(entry.name, flags, dir_fd=source)
                outer = os.open(entry.name, flags, dir_fd=target)
                _copy_tree(inner, outer, uid)
                os.close(inner)
                os.close(outer)
            elif entry.is_file(follow_symlinks=False):
                _copy_file(source, target, entry.name, uid)


def _copy_file(source: int, target: int, name: str, uid: int) -> None:
    inner = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=source)
    mode = os.fstat(inner).st_mode & 0o755
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    outer = os.open(name, flags, mode, dir_fd=target)
    while os.sendfile(outer, inner, None, _COPY_CHUNK):
        pass
    os.fchown(outer, uid, uid)
    os.close(inner)
    os.close(outer)


def _show(place: str, target: str) -> None:
    """Put something of the root's into a directory of the box's own."""
    os.makedirs(target if os.path.isdir(place) else os.path.dirname(target), exist_ok=True)
    if not os.path.exists(target):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    kernel.bind(place, target)


def _overlay(plan: Plan, number: int, target: str) -> None:
    """Make a read-only directory look writable, with the writes going into the box's tmpfs."""
    base = f"{rootfs.SCRATCH}/overlay{number}"
    for directory in (base, f"{base}/upper", f"{base}/work"):
        os.mkdir(directory, 0o755)
    os.chown(f"{base}/upper", plan.uid, plan.uid)
    options = f"lowerdir={target},upperdir={base}/upper,workdir={base}/work"
    if plan.in_user_namespace:
        options += ",userxattr"
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("overlay", target, "overlay", flags, options)


def _raise_network(plan: Plan) -> None:
    """Give the box a name and its own loopback, the only network it has."""
    socket.sethostname("box")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | _IFF_UP))


def _join_cgroup(plan: Plan) -> None:
    # When the machine itself runs out of memory, a box goes before anything else.
    _write("/proc/self/oom_score_adj", "1000")
    if not plan.cgroup:
        return
    global _metered_since
    for procs in plan.cgroup:
        os.write(procs, b"0")
        os.close(procs)
    _metered_since = time.process_time()
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        joined = sum(line.rstrip().endswith(f"/{plan.cgroup_name}") for line in file)
    if joined < len(plan.cgroup):
        raise identity.NotIsolated("the box is not in its cgroup")
    kernel.unshare(kernel.CLONE_NEWCGROUP)


def _limit(plan: Plan) -> None:
    limits = plan.limits
    disk = limits["disk_mb"] << 20
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_FSIZE, disk)
    _set_limit(resource.RLIMIT_NOFILE, limits["open_files"])
    _set_limit(resource.RLIMIT_STACK, limits["stack_mb"] << 20)
    _set_limit(resource.RLIMIT_MEMLOCK, 64 << 10)
    _set_limit(resource.RLIMIT_MSGQUEUE, 0)
    if limits["cpu_ms"]:
        # A backstop for one process; the spawner watches the whole tree and is more exact.
        _set_limit(resource.RLIMIT_CPU, limits["cpu_ms"] // 1000 + 2)


def _set_limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def _wall_in(plan: Plan) -> None:
    identity.become_nobody(plan.uid, plan.last_capability)
    if not plan.cgroup:
        # Only now: a limit set before the user namespace would hold for all boxes together.
        _set_limit(resource.RLIMIT_NPROC, plan.limits["processes"] + _SPARE_TASKS)
    if plan.landlock:
        writable = ("/tmp", "/dev/shm", rootfs.WORKSPACE, *plan.scratch_mounts)
        landlock.restrict(plan.landlock, writable=writable, existing=("/dev", "/proc"))
    os.umask(0o022)
    # Same uid as the program, so nothing of process 1 may be open to it; and with this it is
    # invisible in /proc, too (hidepid).
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.install_seccomp(plan.seccomp)
    identity.check_self()


def _live(plan: Plan) -> NoReturn:
    """Start the program, wait for it, take everything it left behind with us."""
    # Nothing of the setup may live on. (All of it is close-on-exec, too.)
    _close_all_but({plan.status})
    # If the spawner died before PDEATHSIG was set, this write fails and nothing is started.
    began = time.monotonic()
    _report(plan, {"started": began})
    try:
        if plan.limits["address_space_mb"]:
            _set_limit(resource.RLIMIT_AS, plan.limits["address_space_mb"] << 20)
        program = os.posix_spawn(
            plan.argv[0],
            list(plan.argv),
            plan.env,
            setsid=True,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT),
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        _report(plan, {"not_started": reason, "errno": getattr(error, "errno", 0)})
        os._exit(1)
    for fd in (0, 1, 2):
        os.close(fd)
    status = _wait_for(program)
    ended = time.monotonic()
    _end_everybody_else()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = {
        "status": status,
        "wall_ms": (ended - began) * 1000,
        "cpu_ms": (usage.ru_utime + usage.ru_stime) * 1000,
        "max_rss_kb": usage.ru_maxrss,
        "own_cpu_ms": (time.process_time() - _metered_since) * 1000,
        "own_rss_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    _report(plan, report)
    os._exit(0)


def _wait_for(program: int) -> int:
    """Reap whatever ends in the box until the program itself does."""
    while True:
        pid, status = os.wait()
        if pid == program:
            return status


def _end_everybody_else() -> None:
    """Kill and reap the rest, so that its cpu time is counted too."""
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.wait()
    except (ChildProcessError, ProcessLookupError):
        pass


def _report(plan: Plan, facts: dict[str, Any]) -> None:
    try:
        os.write(plan.status, json.dumps(facts).encode() + b"\n")
    except OSError:
        os._exit(1)  # nobody is there to read it


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
