"""Finding a place where this process may make cgroups, by making one: version 2 first, then
version 1 (also hybrid). Where there is none `find` says why, and the spawner samples instead.

Every spawner has a directory of its own, locked with flock() while it lives. Whoever starts next
removes the directories whose lock is free: their owner was killed before it could clean up.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Mapping

from .cgroups import Cgroup, CgroupV1, CgroupV2, remove_directory
from .controls import read, write

PREFIX = "coderunner-"
_CALLER = "coderunner.caller"  # where _make_room puts the processes that were there before
_MOVING_ROUNDS = 20
_PATIENCE_SECONDS = 2.0
_NEEDED = frozenset({"memory", "pids"})


class Unusable(Exception):
    """No cgroup can be made here; the message says why."""


class Place:
    """The directory (v2) or directories (v1) under which this spawner makes its boxes' cgroups."""

    def __init__(self, version: int, parents: Mapping[str, str]) -> None:
        self.version = version
        self._kind = CgroupV2 if version == 2 else CgroupV1
        self._locks: list[int] = []
        own = {parent: self._claim(parent) for parent in dict.fromkeys(parents.values())}
        self._own = {controller: own[parent] for controller, parent in parents.items()}
        self.throttles = version == 1 or _has_cpu(self._own["cpu"])

    def _claim(self, parent: str) -> str:
        """Make and lock a directory of our own, and remove what the dead left beside it."""
        directory = f"{parent}/{PREFIX}{os.getpid()}-{time.time_ns():x}"
        with _one_at_a_time(parent):
            try:
                os.mkdir(directory, 0o755)
                if self.version == 2:
                    _enable_controllers(directory)
                    _hand_down_cpu(directory, directory)
            except OSError as error:
                raise Unusable(f"{parent}: {error.strerror}") from error
            self._locks.append(_lock(directory))
            _sweep(parent)
        return directory

    def make(self, name: str) -> Cgroup:
        cgroup = self._kind({c: f"{directory}/{name}" for c, directory in self._own.items()})
        try:
            cgroup.make()
        except OSError:
            cgroup.remove()
            raise
        return cgroup

    def close(self) -> None:
        for directory in dict.fromkeys(self._own.values()):
            remove_directory(directory)
        for lock in self._locks:
            os.close(lock)


def find() -> Place:
    """The best cgroup interface this process may use. Raises Unusable with the reason."""
    mounts, own = _mounts(), _own_paths()
    unified = mounts.get("")
    if unified and set(read(f"{unified}/cgroup.controllers").split()) >= _NEEDED:
        parent = _v2_parent(unified, own.get("", "/"))
        _hand_down_cpu(unified, parent)
        return Place(2, dict.fromkeys(("memory", "pids", "cpu", "cgroup"), parent))
    parents: dict[str, str] = {}
    for controller in ("memory", "pids", "cpuacct", "cpu"):
        if controller not in mounts:
            raise Unusable(f"the cgroup controller for {controller} is not mounted")
        parent = (mounts[controller] + own.get(controller, "/")).rstrip("/")
        parents[controller] = parent if os.path.isdir(parent) else mounts[controller]
    for parent in parents.values():
        _check_writable(parent)
    parents["cgroup"] = parents["memory"]
    return Place(1, parents)


def _v2_parent(root: str, own: str) -> str:
    """A cgroup that may have children with controllers. Best is our own, if systemd delegated it:
    its limits then hold for the boxes too. Else it is the nearest ancestor that we may write to and
    that holds no processes itself (the kernel allows those only at the top); and if there is none,
    our own after all, as in a container that has one to itself."""
    delegated = (root + own).rstrip("/")
    if _is_marked_delegated(delegated) and _make_room(delegated):
        return delegated
    path, reasons = own, []
    while True:
        directory = (root + path).rstrip("/")
        reason = _v2_refusal(directory, top=path == "/")
        if not reason:
            return directory
        reasons.append(f"{path}: {reason}")
        if path == "/":
            break
        path = os.path.dirname(path)
    if _make_room(delegated):
        return delegated
    raise Unusable("no cgroup that may have children (" + "; ".join(reasons) + ")")


def _v2_refusal(directory: str, *, top: bool) -> str:
    """Why this cgroup cannot be the parent of ours, or an empty string."""
    if not _is_writable(directory):
        return "not writable"
    if read(f"{directory}/cgroup.procs").strip() and not _is_real_root(directory, top):
        return "has processes of its own"
    try:
        _enable_controllers(directory)
    except OSError as error:
        return f"controllers cannot be enabled ({error.strerror})"
    return ""


def _is_writable(directory: str) -> bool:
    names = ("", "cgroup.procs", "cgroup.subtree_control")
    return all(os.access(f"{directory}/{name}", os.W_OK) for name in names)


def _is_marked_delegated(directory: str) -> bool:
    """Whether systemd has said so (since version 251 for everybody to see)."""
    try:
        return os.getxattr(directory, "user.delegate") == b"1"
    except OSError:
        return False


def _make_room(directory: str) -> bool:
    """Move the processes of this cgroup, the caller among them, into a child of it, so that it may
    have more children. Whoever delegates a cgroup expects that."""
    home = f"{directory}/{_CALLER}"
    try:
        controllers = set(read(f"{directory}/cgroup.controllers").split())
        if not _is_writable(directory) or not controllers >= _NEEDED:
            return False
        os.makedirs(home, 0o755, exist_ok=True)
        for _ in range(_MOVING_ROUNDS):  # they may fork while they are moved
            pids = read(f"{directory}/cgroup.procs").split()
            if not pids:
                break
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    write(f"{home}/cgroup.procs", pid)
        _enable_controllers(directory)
    except OSError:
        return False
    return True


def _enable_controllers(directory: str) -> None:
    """Let the children of this v2 cgroup have controllers."""
    enabled = set(read(f"{directory}/cgroup.subtree_control").split())
    for controller in sorted(_NEEDED - enabled):
        write(f"{directory}/cgroup.subtree_control", f"+{controller}")


def _hand_down_cpu(root: str, directory: str) -> None:
    """A wish: only a throttle needs cpu. Systemd hands it down only to where a unit asks for it,
    and not every delegation has it."""
    names = directory.removeprefix(root).split("/")
    for depth in range(1, len(names) + 1):
        with contextlib.suppress(OSError):
            write(root + "/".join(names[:depth]) + "/cgroup.subtree_control", "+cpu")


def _has_cpu(directory: str) -> bool:
    """Whether the children of this v2 cgroup can be throttled: not every delegation has it."""
    return "cpu" in read(f"{directory}/cgroup.subtree_control").split()


def _is_real_root(directory: str, top: bool) -> bool:
    """Only the root of the whole hierarchy lacks `cgroup.type`; a container's root has it."""
    return top and not os.path.exists(f"{directory}/cgroup.type")


def _check_writable(directory: str) -> None:
    if not os.access(directory, os.W_OK):
        raise Unusable(f"{directory} is not writable for this user")


def _mounts() -> dict[str, str]:
    """Where each v1 controller is mounted; the v2 hierarchy under the empty name."""
    found: dict[str, str] = {}
    for line in read("/proc/self/mountinfo").splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        target = left.split()[4]
        if kind == "cgroup2":
            found.setdefault("", target)
        elif kind == "cgroup":
            for option in options.split(","):
                found.setdefault(option, target)
    return found


def _own_paths() -> dict[str, str]:
    """This process's cgroup in each hierarchy, by controller; v2 under the empty name."""
    paths = {}
    for line in read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    return paths


@contextlib.contextmanager
def _one_at_a_time(parent: str) -> Iterator[None]:
    """Keeps another spawner from sweeping up a directory that is made but not yet locked."""
    fd = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(0.002)
        yield
    finally:
        os.close(fd)


def _lock(directory: str) -> int:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return fd


def _sweep(parent: str) -> None:
    """Remove what dead spawners left here."""
    for name in os.listdir(parent):
        directory = f"{parent}/{name}"
        if not name.startswith(PREFIX):
            continue
        try:
            os.close(_lock(directory))
        except OSError:
            continue  # its owner lives, or it is already gone
        for child in os.listdir(directory):
            if os.path.isdir(f"{directory}/{child}"):
                remove_directory(f"{directory}/{child}")
        remove_directory(directory)
