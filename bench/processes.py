"""Looking at processes from outside: who belongs to whom, what they weigh, what they hold."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

_PROC = Path("/proc")


def descendants(pid: int) -> list[int]:
    """Children, grandchildren and so on, those that ended and were not waited for included."""
    parents = _parents()
    found, level = [], [pid]
    while level:
        level = [child for child, parent in parents.items() if parent in level]
        found += level
    return found


def zombies(pids: Iterable[int]) -> int:
    return sum(_stat(pid)[:1] == ["Z"] for pid in pids)


def rss_kb(pid: int) -> int:
    return _field(_PROC / str(pid) / "status", "VmRSS:")


def pss_kb(pid: int) -> int:
    return _field(_PROC / str(pid) / "smaps_rollup", "Pss:")


def private_kb(pid: int) -> int:
    file = _PROC / str(pid) / "smaps_rollup"
    return _field(file, "Private_Clean:") + _field(file, "Private_Dirty:")


def open_fds(pid: int) -> int:
    with contextlib.suppress(OSError):
        return len(os.listdir(_PROC / str(pid) / "fd"))
    return 0


def mounts(pid: int) -> int:
    """Those that this process sees."""
    with contextlib.suppress(OSError):
        return len((_PROC / str(pid) / "mountinfo").read_text().splitlines())
    return 0


def _parents() -> dict[int, int]:
    pids = [int(name) for name in os.listdir(_PROC) if name.isdigit()]
    stats = {pid: _stat(pid) for pid in pids}
    return {pid: int(stat[1]) for pid, stat in stats.items() if stat}


def _stat(pid: int) -> list[str]:
    """State, parent and so on: what follows the name, which may contain anything. Empty if the
    process is gone."""
    with contextlib.suppress(OSError):
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return []


def _field(file: Path, name: str) -> int:
    """In kB; 0 if the process is gone or has none (a zombie)."""
    with contextlib.suppress(OSError):
        for row in file.read_text().splitlines():
            if row.startswith(name):
                return int(row.split()[1])
    return 0
