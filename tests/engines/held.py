"""What this process holds: a run that is over must not have added to it."""

from __future__ import annotations

import asyncio
import os

from coderunner.engines.linux.boxes import sampling
from coderunner.workspace.root import process_root

Held = tuple[list[str], set[asyncio.Task[object]], list[str]]


def held() -> Held:
    """Descriptors, tasks and directories."""
    fds = sorted(os.listdir("/proc/self/fd"))
    return fds, asyncio.all_tasks(), sorted(os.listdir(process_root()))


def held_with_children() -> tuple[Held, list[int]]:
    """Those, and the processes; the spawner of an engine is one."""
    return held(), sampling.tree(os.getpid())
