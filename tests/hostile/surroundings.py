"""What a run must leave as it was: the machine around it, and the caller's own process.

Nothing here waits for things to get better. When a run has returned, it is over.
"""

from __future__ import annotations

import gc
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import coderunner
from coderunner.engines.linux.boxes import process1, sampling
from coderunner.workspace.root import process_root
from tests.support import mounts

_CGROUPS = "/sys/fs/cgroup"
_PACKAGE = Path(coderunner.__file__).parent
_HOST_FILES = (
    "/", "/bin/sh", "/dev", "/dev/null", "/etc", "/etc/hosts", "/etc/passwd", "/etc/shadow", "/usr",
    "/usr/bin", "/usr/bin/env", "/usr/lib", os.path.realpath(sys.executable),
    process1.PROGRAM, process1.LIBRARY, *map(str, sorted(_PACKAGE.rglob("*.py"))),
)  # fmt: skip
_KERNEL_SETTINGS = ("core_pattern", "hostname", "modprobe", "randomize_va_space", "sysrq")
_SHARED_PLACES = ("/tmp", "/var/tmp", "/dev/shm", tempfile.gettempdir())
# Hostile programs give the files they leave around a name that starts like this.
MARK = "hostile-"
_FLAT_KB = 32 * 1024  # two streams are kept, and a little more is needed to look at them


_WAITING = {"x86_64": ("47", "61"), "aarch64": ("212", "260")}[os.uname().machine]


class Surroundings:
    """Everything that could show a trace of a run, at one moment."""

    def __init__(self) -> None:
        self.facts: dict[str, object] = {
            "host files": {path: _identity(path) for path in _HOST_FILES},
            "kernel settings": [_read(f"/proc/sys/kernel/{name}") for name in _KERNEL_SETTINGS],
            "System V objects": [_objects(kind) for kind in ("shm", "msg")],
            "marked files": [name for place in _SHARED_PLACES for name in _marked(place)],
            "our mounts": mounts(),
            "our temp files": sorted(os.listdir(process_root())),
            "our descriptors": _descriptors(),
            "our zombies": [pid for pid in children(os.getpid()) if _state(pid) == "Z"],
        }


@contextmanager
def unharmed() -> Iterator[None]:
    """What happens within leaves no trace outside of the boxes' own spawner."""
    _ = process_root()  # making it is not the run's doing
    gc.collect()
    before = Surroundings()
    _forget_peak()
    memory = _status_kb("VmRSS")
    yield
    gc.collect()
    assert _status_kb("VmHWM") - memory < _FLAT_KB, "the caller's own memory did not stay flat"
    assert Surroundings().facts == before.facts
    for child in children(os.getpid()):  # a service of other tests may be another one
        if "boxes.spawner" in _read(f"/proc/{child}/cmdline"):
            _check_spawner(child)


def token() -> str:
    """A word to recognise the processes of one run by, if it is on their command line."""
    return f"{MARK}{secrets.token_hex(8)}"


def processes_with(word: str) -> list[int]:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if pid != os.getpid() and word in _read(f"/proc/{pid}/cmdline")]


def _check_spawner(spawner: int) -> None:
    """All it may have is boxes nobody has used: clones of itself, each with a cgroup; and warm
    interpreters with theirs, all of whose processes wait for something of ours."""
    own = _read(f"/proc/{spawner}/cmdline")
    others = [pid for pid in sampling.tree(spawner)[1:] if _read(f"/proc/{pid}/cmdline") != own]
    for pid in others:
        assert _read(f"/proc/{pid}/cmdline").partition("\0")[2] in ("", "main.py\0")
    wait_for(lambda: all(map(_waits_for_us, others)))
    for name in ("mountinfo", "status"):
        assert MARK not in _read(f"/proc/{spawner}/{name}")
    # A box's cgroup is made a moment before the box, and removed a moment after.
    boxes = [pid for parent in (spawner, *children(spawner)) for pid in children(parent)]
    wait_for(lambda: cgroups_of(spawner) <= len(boxes))


def _waits_for_us(pid: int) -> bool:
    """For an order or a job (recvmsg), or for a program to end (wait4); or it is gone."""
    return _read(f"/proc/{pid}/syscall").partition(" ")[0] in ("", *_WAITING)


def cgroups_of(spawner: int) -> int:
    """How many boxes have a cgroup, in the hierarchy that has most of them."""
    counts = [
        sum(name.startswith("box-") for name in names)
        for path, names, _ in os.walk(_CGROUPS)  # which does not mind what vanishes meanwhile
        if os.path.basename(path).startswith(f"coderunner-{spawner}-")
    ]
    return max(counts, default=0)


def wait_for(look: Callable[[], bool]) -> None:
    """The limit is only there to end a test that has failed."""
    deadline = time.monotonic() + 30
    while not look():
        assert time.monotonic() < deadline, "it did not happen within 30 seconds"
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    place = f"/proc/{pid}/task"
    try:
        lists = [_read(f"{place}/{task}/children") for task in os.listdir(place)]
    except FileNotFoundError:  # it ended meanwhile
        return []
    return [int(child) for text in lists for child in text.split()]


def _state(pid: int) -> str:
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].strip()[:1]


def _identity(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    shared = (status.st_ino, status.st_mode, status.st_uid, status.st_gid)
    # Directories and devices of the whole machine change for reasons of their own.
    own = (status.st_size, status.st_mtime_ns) if os.path.isfile(path) else ()
    return (*shared, *own)


def _objects(kind: str) -> int:
    return len(_read(f"/proc/sysvipc/{kind}").splitlines())


def _marked(place: str) -> list[str]:
    return [f"{place}/{name}" for name in os.listdir(place) if name.startswith(MARK)]


def _descriptors() -> list[str]:
    found = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError:
            continue  # the one that listed them
    kinds = [name.partition(":")[0] if ":[" in name else name for name in found]
    return sorted(kinds)


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _status_kb(field: str) -> int:
    [line] = [line for line in _read("/proc/self/status").splitlines() if line.startswith(field)]
    return int(line.split()[1])


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""
