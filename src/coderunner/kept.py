"""Where things are kept that can be made again: directories in the cache that are ours alone.

Whatever lies in there is shown to later boxes or run in them, so nobody else may have put it there.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from coderunner.workspace.root import process_root

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def kept_directory(wanted: Path) -> Path:
    """The directory if it can be ours alone; else (a service without a home, a directory of
    somebody else's) one of the same name that lasts as long as this process."""
    try:
        os.close(open_private(wanted))
    except OSError:
        return process_root() / wanted.name
    return wanted


def open_private(directory: Path) -> int:
    """Make the directory if needed and open it: a real one, ours, and closed to everybody else.
    Raises OSError where it is not, or where that would leave root's files in a user's home."""
    if not directory.is_absolute():
        raise FileNotFoundError(f"{directory} is not absolute")
    try:
        fd = os.open(directory, _DIRECTORY)
    except FileNotFoundError:
        _make(directory)
        fd = os.open(directory, _DIRECTORY)
    try:
        status = os.fstat(fd)
        if status.st_uid != os.geteuid():
            raise PermissionError(f"{directory} is somebody else's")
        if stat.S_IMODE(status.st_mode) != 0o700:
            os.fchmod(fd, 0o700)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise PermissionError(f"{directory} cannot be written to")
    except BaseException:
        os.close(fd)
        raise
    return fd


def _make(directory: Path) -> None:
    existing = next(folder for folder in directory.parents if folder.exists())
    if existing.stat().st_uid not in {0, os.geteuid()}:
        raise PermissionError(f"{existing} is somebody else's")
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
