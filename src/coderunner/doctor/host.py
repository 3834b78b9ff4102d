"""What this machine is, for the head of the report."""

from __future__ import annotations

import os
import platform
import sys

from coderunner.doctor.report import Machine
from coderunner.engines.linux.boxes import kernel, process1


def machine() -> Machine:
    uid = os.geteuid()
    return Machine(
        kernel=os.uname().release,
        architecture=os.uname().machine,
        cgroup=_cgroup(),
        landlock_abi=kernel.landlock_abi(),
        boxes=_boxes(),
        user="root" if uid == 0 else f"uid {uid}",
        python=f"{platform.python_version()} ({sys.executable})",
    )


def _boxes() -> str:
    if process1.program():
        return "compiled"
    return "made by Python, slower: install a C compiler, then CodeRunner again"


def _cgroup() -> str:
    """Which version has the controllers: both may be mounted."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        kinds = {line.partition(" - ")[2].split(" ", 1)[0] for line in file}
    found = kinds & {"cgroup", "cgroup2"}
    if len(found) == 2:
        return "hybrid"
    return {"cgroup": "v1", "cgroup2": "v2"}.get("".join(found), "none")
