"""What processes that are no more have left on a daemon."""

from __future__ import annotations

import contextlib
from typing import Any

from coderunner.engines.docker.daemon import troubles
from coderunner.engines.docker.owner import OWNER, is_left
from coderunner.errors import EngineUnavailable

_OURS = {"label": OWNER}


def sweep(api: Any) -> list[str]:
    """Remove it, and say in words what it was. Containers first: they hold volumes. Blocking."""
    removed = []
    for one in api.containers(all=True, filters=_OURS):
        if is_left(one.get("Labels") or {}) and _gone(api.remove_container, one["Id"]):
            removed.append(f"container {one['Id'][:12]}")
    for one in (api.volumes(filters=_OURS) or {}).get("Volumes") or ():
        if is_left(one.get("Labels") or {}) and _gone(api.remove_volume, one["Name"]):
            removed.append(f"volume {one['Name']}")
    return removed


def _gone(remove: Any, name: str) -> bool:
    """Somebody else may be at it, too; what cannot be removed is no reason not to start."""
    with contextlib.suppress(EngineUnavailable), troubles(f"cannot remove {name}"):
        remove(name, force=True)
        return True
    return False
