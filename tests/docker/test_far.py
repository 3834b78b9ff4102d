"""Daemons that see none of our files: the directories that jobs are shown are carried to them."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from coderunner.engines.docker import DockerEngine
from coderunner.engines.docker.owner import OWNER
from coderunner.errors import EngineUnavailable
from coderunner.execution import execute
from coderunner.model import Job, Limits, Mount, Outcome
from coderunner.settings import DockerSettings
from coderunner.workspace import Bundle
from tests.docker.conftest import ours
from tests.docker.daemon import OwnDaemon, connect
from tests.docker.tiny import TALK, TALKING, make_talking
from tests.support import leave_out

pytestmark = [pytest.mark.engines, pytest.mark.as_root]

TARGET = "/prepared/it"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """What the daemon sees, and what it does not: there it has other files of the same names."""
    folder = tmp_path_factory.mktemp("places")
    for name in ("near", "far"):
        inner = folder / name / "prepared" / "deep"
        inner.mkdir(parents=True)
        (folder / name).chmod(0o700)
        inner.joinpath("file").write_text(f"it is {name}")
        inner.joinpath("file").chmod(0o644)
        os.utime(inner / "file", (4_000_000_000, 4_000_000_000))
    return folder / "near", folder / "far"


@pytest.fixture(scope="module")
def daemon(
    tmp_path_factory: pytest.TempPathFactory, places: tuple[Path, Path]
) -> Iterator[OwnDaemon]:
    if not shutil.which("dockerd"):
        leave_out("there is no dockerd", fix="apt-get install docker.io")
    daemon = OwnDaemon(tmp_path_factory.mktemp("own"))
    try:
        daemon.start()
        make_talking(daemon)
        _cover(daemon, places[1])
        yield daemon
    finally:
        daemon.stop()


def _cover(daemon: OwnDaemon, place: Path) -> None:
    script = (
        f"mount -t tmpfs tests {place} && mkdir -p {place}/prepared/deep && "
        f"echo another machine > {place}/prepared/deep/file"
    )
    subprocess.run(
        ["nsenter", f"--mount=/proc/{daemon.pid}/ns/mnt", "sh", "-ec", script], check=True
    )


@pytest.fixture
async def engine(daemon: OwnDaemon) -> AsyncIterator[DockerEngine]:
    engine = DockerEngine(DockerSettings(host=daemon.address, image=TALKING))
    yield engine
    await engine.aclose()
    client = connect(daemon.address)
    assert ours(client) == ([], [])
    client.close()


async def show(engine: DockerEngine, source: Path, path: str = "deep/file") -> Outcome:
    with Bundle(()) as nothing:
        job = Job(
            (TALK, "show", f"{TARGET}/{path}"),
            nothing,
            mounts=(Mount(source, TARGET),),
            limits=Limits(wall_ms=20_000),
        )
        return await execute(engine, job)


def volumes(daemon: OwnDaemon) -> list[str]:
    client = connect(daemon.address)
    try:
        return ours(client)[1]
    finally:
        client.close()


@pytest.mark.parametrize("mode", [0o700, 0o755])
async def test_what_the_daemon_sees_is_not_carried(
    daemon: OwnDaemon, engine: DockerEngine, places: tuple[Path, Path], mode: int
) -> None:
    places[0].chmod(mode)
    near = places[0] / "prepared"
    assert await engine.sees(near, TALKING)
    assert (await show(engine, near)).stdout.data == b"it is near"
    assert len(volumes(daemon)) == 1  # the warden's
    assert list(places[0].iterdir()) == [near]


async def test_what_the_daemon_does_not_see_is_carried_once(
    daemon: OwnDaemon, engine: DockerEngine, places: tuple[Path, Path]
) -> None:
    far = places[1] / "prepared"
    assert not await engine.sees(far, TALKING)
    outcomes = await asyncio.gather(*(show(engine, far) for _ in range(3)))
    assert [outcome.stdout.data for outcome in outcomes] == [b"it is far"] * 3
    assert len(volumes(daemon)) == 2


async def test_a_single_file_cannot_be_carried(
    engine: DockerEngine, places: tuple[Path, Path]
) -> None:
    (places[1] / "a file").touch()
    with pytest.raises(EngineUnavailable, match="only directories"):
        await show(engine, places[1] / "a file")
    assert (await show(engine, places[1] / "prepared")).stdout.data == b"it is far"


async def test_a_volume_that_somebody_has_removed(
    daemon: OwnDaemon, engine: DockerEngine, places: tuple[Path, Path]
) -> None:
    """The next one finds it empty. It is ours all the same, and leaves with us."""
    await show(engine, places[1] / "prepared")
    client = connect(daemon.address)
    for volume in client.volumes.list(filters={"label": OWNER}):
        volume.remove()
    client.close()
    assert (await show(engine, places[1] / "prepared")).stdout.data == b""
