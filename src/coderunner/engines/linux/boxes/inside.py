"""Process 1 of a box: sets up its world, walls itself in, starts the program, reports its end.

Runs in a fresh clone of the spawner. It is ready before it knows what for: the job comes over the
channel when there is one, maybe at once, maybe minutes later. Nothing here returns.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import json
import os
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from . import identity, kernel, landlock, protocol, rootfs
from .controls import read, write

_OWN_NAMESPACES = kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_SHARED_DIRECTORIES = (("tmp", "/tmp"), ("shm", "/dev/shm"))
# A program that cannot be started for want of these is the machine's trouble, not its own.
_OUT_OF_SOMETHING = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
# More than any program may have, so that the sampler sees it pass its limit.
_SPARE_TASKS = 256


class Plan(NamedTuple):
    """All that process 1 needs to know before it has a job. Descriptors are inherited."""

    limits: Mapping[str, Any]
    shown: Sequence[str]  # paths of the host's that the root has for this box
    scratch_mounts: Sequence[str]  # paths that look writable; what is written is thrown away
    uid: int
    channel: int
    root: int
    scratch: int
    cgroup: Sequence[int]
    cgroup_name: str
    seccomp: bytes
    landlock: int
    last_capability: int
    outside: Mapping[str, str]  # the namespaces of the spawner
    most_open_files: int
    in_user_namespace: bool


def plan(facts: Mapping[str, Any], fds: Sequence[int]) -> Plan:
    channel, root, scratch, *cgroup = fds
    return Plan(**facts, channel=channel, root=root, scratch=scratch, cgroup=cgroup)


def run(plan: Plan) -> NoReturn:
    """The whole life of process 1."""
    channel = _set_up(plan)
    _report(channel, {"ready": True})
    received = protocol.receive(channel)
    if received is None:
        os._exit(0)
    try:
        program = _start(plan, *received)
    except (OSError, ValueError) as error:
        _report(channel, _why_not(plan, error))
        os._exit(1)
    _live(channel, program)


def _why_not(plan: Plan, error: OSError | ValueError) -> dict[str, str]:
    """Whose trouble it is that a program could not be started."""
    why = getattr(error, "strerror", None) or str(error)
    number = getattr(error, "errno", 0)
    address_space = plan.limits["address_space_mb"]
    if number == errno.ENOMEM and address_space:
        return {"not_started": f"{why}: address_space_mb={address_space} is too little"}
    return {"failed" if number in _OUT_OF_SOMETHING else "not_started": why}


def run_warm(plan: Plan, settle: Callable[[], None], become: Callable[[Any], None]) -> None:
    """The same in a fork of a warm interpreter, but the program is there before its job is.
    Returns in the program's own process, once it has a job."""
    channel = _set_up(plan)
    program = os.fork()
    if program:
        _live(channel, program)
    try:
        os.setsid()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # as after any exec
        settle()
        _report(channel, {"ready": True})
        received = protocol.receive(channel)
        if received is None:
            os._exit(0)
        job, stdio = received
        if not os.access(job["argv"][0], os.X_OK):  # the interpreter was started by somebody else
            _report(channel, {"not_started": os.strerror(errno.EACCES)})
            os._exit(1)
        become(job)
        _take(plan, job, stdio)
    except BaseException as error:
        _report(channel, {"failed": f"warm start: {error!r}"})
        os._exit(1)


def _set_up(plan: Plan) -> socket.socket:
    channel = socket.socket(fileno=plan.channel)
    step = ""
    try:
        stages = (_close_others, _enter_root, _raise_network, _join_cgroup, _wall_in, _limit)
        for stage in stages:
            step = stage.__name__.strip("_").replace("_", " ")
            stage(plan)
    except BaseException as error:
        _report(channel, {"failed": f"{step}: {error}"})
        os._exit(1)
    # If the spawner died before PDEATHSIG was set, the next report fails, and nothing is started.
    return channel


def _close_others(plan: Plan) -> None:
    """Close everything the spawner had open, but for what the plan names. Its own stdin is the
    line to the caller, which is none of our business either."""
    os.umask(0)
    null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    for number in (0, 1, 2):
        os.dup2(null, number)
    _close_all_but({plan.channel, plan.root, plan.scratch, *plan.cgroup})


def _close_all_but(fds: set[int]) -> None:
    kept = sorted({0, 1, 2} | fds)
    end = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    for before, after in itertools.pairwise([*kept, end]):
        if after > before + 1:
            os.closerange(before + 1, after)


def _enter_root(plan: Plan) -> None:
    kernel.setns(plan.root, kernel.CLONE_NEWNS)
    kernel.unshare(kernel.CLONE_NEWNS)
    for name, _ in _SHARED_DIRECTORIES:
        os.mkdir(name, 0o1777, dir_fd=plan.scratch)
    os.mkdir("workspace", 0o755, dir_fd=plan.scratch)
    os.chown("workspace", plan.uid, plan.uid, dir_fd=plan.scratch)
    kernel.attach_tree(plan.scratch, rootfs.SCRATCH)
    for name, target in (*_SHARED_DIRECTORIES, ("workspace", rootfs.WORKSPACE)):
        kernel.bind(f"{rootfs.SCRATCH}/{name}", target)
    show(plan.shown)
    for number, target in enumerate(plan.scratch_mounts):
        _overlay(plan, number, target)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("proc", "/proc", "proc", flags, "hidepid=2")
    _trim_proc(plan)
    if plan.in_user_namespace:
        kernel.unmount(rootfs.HOST_PROC)
    kernel.unmount(rootfs.SCRATCH)
    os.chdir(rootfs.WORKSPACE)


def _trim_proc(plan: Plan) -> None:
    """What a program has no business with, and the rest of the walls would let it have."""
    # Locks of open files are those of the whole machine. Keys are those of the same user, which for
    # an ordinary one is the caller's.
    hidden = ("/proc/locks", "/proc/keys") if plan.in_user_namespace else ("/proc/locks",)
    for path in hidden:
        if os.path.exists(path):
            kernel.bind("/etc/resolv.conf", path)  # which is empty
    if not plan.landlock and os.path.exists("/proc/pressure"):
        # Everybody may ask for warnings there, thousands of which take seconds to put away.
        pressure = kernel.clone_tree("/proc/pressure")
        kernel.set_mount_attributes(pressure, kernel.MOUNT_ATTR_RDONLY)
        kernel.attach_tree(pressure, "/proc/pressure")
        os.close(pressure)


def show(targets: Iterable[str]) -> None:
    """Put what the root keeps in a corner to where a program expects it: see rootfs.place_of."""
    for target in targets:
        place = rootfs.place_of(target)
        if place != target:
            _bind(place, target)


def _bind(place: str, target: str) -> None:
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
    kernel.unshare(_OWN_NAMESPACES)
    socket.sethostname("box")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | _IFF_UP))
    for name in ("tcp_rmem", "tcp_wmem"):  # or one connection could hold megabytes
        write(f"/proc/sys/net/ipv4/{name}", "4096 65536 262144")


def _join_cgroup(plan: Plan) -> None:
    # When the machine itself runs out of memory, a box goes before anything else.
    write("/proc/self/oom_score_adj", "1000")
    if not plan.cgroup:
        kernel.unshare(kernel.CLONE_NEWCGROUP)
        return
    for procs in plan.cgroup:
        os.write(procs, b"0")
        os.close(procs)
    joined = read("/proc/self/cgroup").count(f"/{plan.cgroup_name}\n")
    if joined < len(plan.cgroup):
        raise identity.NotIsolated("the box is not in its cgroup")
    kernel.unshare(kernel.CLONE_NEWCGROUP)


def _wall_in(plan: Plan) -> None:
    identity.become_nobody(plan.uid, plan.last_capability)
    if plan.landlock:
        writable = ("/tmp", "/dev/shm", rootfs.WORKSPACE, *plan.scratch_mounts)
        landlock.restrict(plan.landlock, writable=writable, existing=("/dev/null", "/dev/full"))
    os.umask(0o022)
    # Same uid as the program, so nothing of process 1 may be open to it; and with this it is
    # invisible in /proc, too (hidepid).
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.install_seccomp(plan.seccomp)
    identity.check_self(plan.outside)
    # Nothing of the setup may live on. (All of it is close-on-exec, too.)
    _close_all_but({plan.channel})


def _live(channel: socket.socket, program: int) -> NoReturn:
    """Wait for the program, take everything it left behind with us."""
    for fd in (0, 1, 2):
        os.close(fd)
    status = _wait_for(program)
    ended = time.monotonic()
    _end_everybody_else()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    _report(
        channel,
        {
            "status": status,
            "ended_at": ended,
            "cpu_ms": (usage.ru_utime + usage.ru_stime) * 1000,
            "max_rss_kb": usage.ru_maxrss,
            "own_rss_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        },
    )
    os._exit(0)


def _start(plan: Plan, job: protocol.Message, stdio: list[int]) -> int:
    _take(plan, job, stdio, plan.channel)
    return os.posix_spawn(
        job["argv"][0],
        job["argv"],
        job["env"],
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT),
    )


def _take(plan: Plan, job: protocol.Message, stdio: list[int], *others: int) -> None:
    """What a job brings along: three descriptors, and no others stay but those named. Then the
    limits under which process 1 could not have come so far."""
    for number, fd in enumerate(stdio):
        os.dup2(fd, number)
    _close_all_but(set(others))
    _set_limit(resource.RLIMIT_NOFILE, min(plan.limits["open_files"], plan.most_open_files))
    if plan.limits["address_space_mb"]:
        _set_limit(resource.RLIMIT_AS, plan.limits["address_space_mb"] << 20)
    if job["cpu_ms"]:
        # A backstop for one process; the spawner watches the whole tree and is more exact.
        _set_limit(resource.RLIMIT_CPU, job["cpu_ms"] // 1000 + 2)


def _limit(plan: Plan) -> None:
    limits = plan.limits
    # Where dumps go to a program of the host's, only exactly 1 means none (and 1 byte is none).
    _set_limit(resource.RLIMIT_CORE, 1)
    _set_limit(resource.RLIMIT_FSIZE, limits["disk_mb"] << 20)
    # Programs may raise this one, as contest solutions do: the stack is memory and counted as such.
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (at_most(limits["stack_mb"] << 20, hard), hard))
    _set_limit(resource.RLIMIT_MEMLOCK, 64 << 10)
    for kind in (resource.RLIMIT_MSGQUEUE, resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE):
        _set_limit(kind, 0)
    if not plan.cgroup:
        # Counts this box alone, because it has a user namespace of its own.
        _set_limit(resource.RLIMIT_NPROC, limits["processes"] + _SPARE_TASKS)


def _set_limit(kind: int, value: int) -> None:
    value = at_most(value, resource.getrlimit(kind)[1])
    resource.setrlimit(kind, (value, value))


def at_most(value: int, hard: int) -> int:
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


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


def _report(channel: socket.socket, facts: dict[str, Any]) -> None:
    try:
        channel.send(json.dumps({"op": "report", **facts}).encode())
    except OSError:
        os._exit(1)  # nobody is there to read it
