"""Whose a container or volume is: labels on all that we make."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Mapping
from pathlib import Path

OWNER = "coderunner.owner"
UNTIL = "coderunner.until"
_LATE_S = 60


def labels(seconds: float | None = None) -> dict[str, str]:
    """Ours; with how long it can be of use, if that is known."""
    until = {} if seconds is None else {UNTIL: str(int(time.time() + seconds))}
    return {OWNER: _identity(os.getpid()), **until}


def is_left(found: Mapping[str, str]) -> bool:
    """Whether nobody needs it any more: its process is no more, or its time is long over. Of
    processes of another machine, or of a container, we only know the time."""
    until = found.get(UNTIL, "")
    if until.isdigit() and time.time() > int(until) + _LATE_S:
        return True
    world, _, rest = found.get(OWNER, "").partition("|")
    pid = rest.partition("|")[0]
    if world != _world() or not pid.isdigit():
        return False
    return found[OWNER] != _identity(int(pid))


def _identity(pid: int) -> str:
    return f"{_world()}|{pid}|{_started(pid)}"


@functools.cache
def _world() -> str:
    """The machine since it was started, and the pid namespace in it."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"


def _started(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
