"""What jobs see of this machine's files: preparations, such as Go's standard library.

A daemon that sees them, mounts them. To one that does not (on another machine, or in a container
with files of its own) they are carried: once, into a volume of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import secrets
import stat
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from coderunner.cancelling import outlast
from coderunner.engines.docker import delivery, owner
from coderunner.engines.docker.daemon import Daemon, is_refused, troubles
from coderunner.errors import EngineUnavailable, faults_of_the_machine
from coderunner.workspace.root import process_root

T = TypeVar("T")
_PROBE = "/.coderunner-probe"


class Shown:
    """Each directory is looked for, and carried, once."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._seen: dict[Path, asyncio.Task[bool]] = {}
        self._carried: dict[Path, asyncio.Task[str]] = {}

    async def sees(self, source: Path, image: str) -> bool:
        """Whether the daemon has the same at this path."""
        folder = _where_to_ask(source)
        if folder not in self._seen:
            asked = self._daemon.ask("looking for a file", lambda api: _sees(api, image, folder))
            self._seen[folder] = asyncio.create_task(asked)
        return await _outcome(self._seen, folder)

    async def resolve(self, config: dict[str, Any]) -> dict[str, Any]:
        """A container's configuration, with volumes where the daemon does not see our files."""
        host, image = config["HostConfig"], config["Image"]
        mounts = [await self._resolved(mount, image) for mount in host["Mounts"]]
        return {**config, "HostConfig": {**host, "Mounts": mounts}}

    async def close(self) -> None:
        """Nobody uses them any more."""
        await outlast(*self._seen.values(), *self._carried.values())
        for carried in self._carried.values():
            if carried.cancelled() or carried.exception() is not None:
                continue
            await self._take_back(carried.result())

    async def _take_back(self, volume: str) -> None:
        with contextlib.suppress(EngineUnavailable):  # it is found by its label later
            await self._daemon.ask("removing a volume", lambda api: delivery.take_back(api, volume))

    async def _resolved(self, mount: Mapping[str, Any], image: str) -> Mapping[str, Any]:
        if mount["Type"] != "bind":
            return mount
        source = Path(mount["Source"])
        if await self.sees(source, image):
            return mount
        if source not in self._carried:
            asked = self._daemon.ask(
                f"carrying {source} there", lambda api: _carry(api, image, source)
            )
            self._carried[source] = asyncio.create_task(asked)
        return delivery.mounted(await _outcome(self._carried, source), mount["Target"])


async def _outcome(tasks: dict[Path, asyncio.Task[T]], path: Path) -> T:
    """Of one that others may wait for, too. Who asks after a failure, asks anew."""
    task = tasks[path]
    await outlast(task)
    if task.cancelled() or task.exception() is not None:
        tasks.pop(path, None)
    return task.result()


def _where_to_ask(source: Path) -> Path:
    """Beside it, if that is ours alone. Else we write nothing there, and who sees our temporary
    files is taken to see everything."""
    status = source.parent.stat()
    is_ours = status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077
    return source.parent if is_ours else process_root()


def _sees(api: Any, image: str, folder: Path) -> bool:
    """What we write there now can be nowhere else."""
    token = secrets.token_bytes(16)
    probe = folder / f".probe-{secrets.token_hex(8)}"
    try:
        with faults_of_the_machine():
            probe.write_bytes(token)
        return _read(api, image, probe) == token
    finally:
        probe.unlink(missing_ok=True)


def _read(api: Any, image: str, path: Path) -> bytes:
    """A file as the daemon sees it; nothing if it sees none. No program runs for that."""
    mount = {"Type": "bind", "Source": str(path), "Target": _PROBE, "ReadOnly": True}
    try:
        with troubles("no such file"):
            made = api.create_container_from_config(delivery.lent(image, mount, owner.labels()))
            try:
                parts, _ = api.get_archive(made["Id"], _PROBE)
                archive = io.BytesIO(b"".join(parts))
            finally:
                api.remove_container(made["Id"], force=True, v=False)
    except EngineUnavailable as error:
        if is_refused(error):
            return b""
        raise
    with tarfile.open(fileobj=archive) as tar:
        member = tar.extractfile(tar.getmembers()[0])
        return member.read() if member else b""


def _carry(api: Any, image: str, source: Path) -> str:
    if not source.is_dir():
        raise EngineUnavailable(
            f"this Docker does not see {source}, and only directories can be carried to it",
            hint="use a daemon on this machine",
        )
    with faults_of_the_machine(), tempfile.TemporaryFile() as archive:
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.add(source, arcname=".", filter=_anybodys)
        archive.seek(0)
        return delivery.fill(api, image, archive)


def _anybodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Who it belonged to here, means nothing there."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
