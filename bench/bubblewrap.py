"""The command line of a bubblewrap sandbox that does the same job as a box of ours.

All namespaces, a read-only system, private /proc, /dev and /tmp, no capabilities, no terminal. What
it leaves out is in its favour: no memory or process limit, no system-call filter, no Landlock, no
copy of the workspace.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from coderunner.model import Job

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_WALLS = (
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
)
_PRIVATE = ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")


def command(bwrap: str, job: Job) -> list[str]:
    """Run a job's command the bubblewrap way; its environment is the one this is started with."""
    return [
        bwrap,
        *_WALLS,
        *_system(),
        *_PRIVATE,
        *_read_only((str(mount.source), mount.target) for mount in job.mounts),
        *_read_only([(str(job.workspace), "/workspace")]),
        "--chdir",
        "/workspace",
        *job.argv,
    ]


def _system() -> list[str]:
    """The system directories as they are here: a real one is mounted, a link stays a link."""
    words: list[str] = []
    for path in map(Path, _SYSTEM):
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    return words


def _read_only(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [word for source, target in pairs for word in ("--ro-bind", source, target)]
