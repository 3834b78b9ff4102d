"""The second wall around the file system.

The mount namespace already shows a box nothing but its own root. Landlock says the same again in
other words, so that a way around the first wall leads nowhere: reading is allowed below the box's
root, writing only where the box may write.
"""

from __future__ import annotations

import os
import stat
import struct

from . import kernel

_VERSION_QUERY = 1
_WRITE_FILE, _READ_FILE, _READ_DIR, _EXECUTE = 1 << 1, 1 << 2, 1 << 3, 1 << 0
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_A_FILE = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_WRITE_EXISTING = _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_SCOPE_ALL = 0b11  # abstract sockets and signals stay inside (ABI 6)


def abi() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    try:
        return kernel.landlock_create(b"", _VERSION_QUERY)
    except OSError:
        return 0


def _handled(version: int) -> int:
    """Every right on files that this version knows, so that none goes unchecked."""
    count = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    return (1 << count) - 1


def restrict(version: int, *, writable: tuple[str, ...], existing: tuple[str, ...]) -> None:
    """Confine this process: read below /, write below `writable`, and write to what already
    exists (devices, /proc/self) below `existing`."""
    handled = _handled(version)
    attributes = struct.pack("<Q", handled)
    if version >= 6:
        attributes = struct.pack("<QQQ", handled, 0, _SCOPE_ALL)
    ruleset = kernel.landlock_create(attributes)
    try:
        _allow(ruleset, "/", _READ & handled)
        for path in existing:
            _allow(ruleset, path, (_READ | _WRITE_EXISTING) & handled)
        for path in writable:
            _allow(ruleset, path, handled)
        kernel.landlock_restrict(ruleset)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _OF_A_FILE
        kernel.landlock_add_path(ruleset, struct.pack("<Qi", rights, fd))
    finally:
        os.close(fd)
