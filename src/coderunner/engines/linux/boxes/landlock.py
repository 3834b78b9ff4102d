"""The second wall around the file system.

The mount namespace already shows a box nothing but its own root. Landlock says the same again in
other words, so that a way around the first wall leads nowhere: reading is allowed below the box's
root, writing only where the box may write.
"""

from __future__ import annotations

import os
import struct

from .plan import Kept, Plan

_BENEATH_PATH = 1
_WRITE_FILE, _READ_FILE, _READ_DIR, _EXECUTE = 1 << 1, 1 << 2, 1 << 3, 1 << 0
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_A_FILE = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_WRITE_EXISTING = _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_SCOPE_ALL = 0b11  # abstract sockets and signals stay inside (ABI 6)


def _handled(version: int) -> int:
    """Every right on files that this version knows, so that none goes unchecked."""
    count = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    return (1 << count) - 1


def restrict(
    plan: Plan, version: int, *, writable: tuple[str, ...], existing: tuple[str | Kept, ...]
) -> None:
    """Confine process 1: read below /, write below the directories `writable`, and write to what
    already exists: the devices `existing`, or those in a directory that is open already."""
    plan.stage("landlock")
    handled = _handled(version)
    attributes = struct.pack("<Q", handled)
    if version >= 6:
        attributes = struct.pack("<QQQ", handled, 0, _SCOPE_ALL)
    data = plan.data(attributes)
    ruleset = plan.keep(1, "landlock_create_ruleset", data, len(attributes), 0)
    _allow(plan, ruleset, "/", _READ & handled)
    for path in existing:
        _allow(plan, ruleset, path, (_READ | _WRITE_EXISTING) & handled & _OF_A_FILE)
    for path in writable:
        _allow(plan, ruleset, path, handled)
    plan.call("landlock_restrict_self", ruleset, 0)
    plan.call("close", ruleset)


def _allow(plan: Plan, ruleset: Kept, place: str | Kept, rights: int) -> None:
    fd = plan.open(2, place, os.O_PATH) if isinstance(place, str) else place
    rule = plan.data(struct.pack("<Qq", rights, 0))
    plan.store(rule, 8, fd)
    plan.call("landlock_add_rule", ruleset, _BENEATH_PATH, rule, 0, about=f"{place}")
    plan.call("close", fd)
