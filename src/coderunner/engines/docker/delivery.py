"""How the warden gets into containers: in a volume of ours, filled by plain tar.

That works with daemons near and far, and with every image: the program needs nothing of them.
"""

from __future__ import annotations

import contextlib
import io
import secrets
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from coderunner.engines.docker import owner
from coderunner.engines.docker.hardening import WARDEN
from coderunner.errors import EngineUnavailable

PROGRAM = Path(__file__).parent / "warden" / "coderunner-warden"


def deliver(api: Any, image: str) -> str:
    """Make the volume, and return its name. Blocking."""
    return fill(api, image, _archive())


def fill(api: Any, image: str, archive: bytes | IO[bytes]) -> str:
    """Make a volume of what is in the archive, and return its name. The image only lends a
    container that never runs. Blocking."""
    labels = owner.labels()
    name = _volume(api, labels)
    try:
        mount = {"Type": "volume", "Source": name, "Target": WARDEN}
        made = api.create_container_from_config(lent(image, mount, labels), name)
        try:
            api.put_archive(made["Id"], WARDEN, archive)
        finally:
            api.remove_container(made["Id"], force=True, v=False)
    except BaseException:
        with contextlib.suppress(Exception):
            api.remove_volume(name, force=True)
        raise
    return name


def mounted(volume: str, target: str) -> dict[str, Any]:
    """A volume of ours, as a container is told of it. If somebody has removed it, Docker makes an
    empty one; that one is ours, too."""
    return {
        "Type": "volume",
        "Source": volume,
        "Target": target,
        "ReadOnly": True,
        "VolumeOptions": {"NoCopy": True, "Labels": owner.labels()},
    }


def _volume(api: Any, labels: dict[str, str]) -> str:
    """A new one. Asked for a name that is taken, Docker gives the volume that has it."""
    while True:
        name = f"coderunner-{secrets.token_hex(8)}"
        if api.create_volume(name, labels=labels).get("Labels") == labels:
            return name


def take_back(api: Any, name: str) -> None:
    remove: Callable[..., object] = api.remove_volume
    remove(name, force=True)


def lent(image: str, mount: Mapping[str, object], labels: Mapping[str, str]) -> dict[str, Any]:
    """A container that is never started, for what its daemon does with files."""
    return {
        "Image": image,
        "Entrypoint": ["/nothing"],
        "Labels": dict(labels),
        "HostConfig": {"NetworkMode": "none", "Mounts": [mount]},
    }


def _archive() -> bytes:
    try:
        content = PROGRAM.read_bytes()
    except FileNotFoundError as error:
        raise EngineUnavailable(
            "the docker engine's own program was not compiled when this was installed",
            hint="install a C compiler with static libraries (gcc libc6-dev), then install again",
        ) from error
    entry = tarfile.TarInfo("warden")
    entry.size, entry.mode = len(content), 0o755
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()
