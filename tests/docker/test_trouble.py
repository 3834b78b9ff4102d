"""A daemon that is restarted, hangs, or has no space left: one of the tests' own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from coderunner.engines.docker import DockerEngine
from coderunner.engines.docker.hardening import WARDEN
from coderunner.errors import EngineUnavailable
from coderunner.execution import execute
from coderunner.model import File, Job, Outcome
from coderunner.settings import DockerSettings
from coderunner.workspace import Bundle
from tests.docker.daemon import OwnDaemon, connect, everything
from tests.docker.tiny import EMPTY, make_empty
from tests.support import leave_out

pytestmark = [pytest.mark.engines, pytest.mark.as_root]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDaemon]:
    """Its disk is small, and in memory."""
    if not shutil.which("dockerd"):
        leave_out("there is no dockerd", fix="apt-get install docker.io")
    folder = tmp_path_factory.mktemp("own")
    (folder / "data").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tests", folder / "data"], check=True)
    daemon = OwnDaemon(folder)
    try:
        daemon.start()
        make_empty(daemon)
        yield daemon
    finally:
        daemon.stop()
        subprocess.run(["umount", "--lazy", folder / "data"], check=True)


@pytest.fixture
async def engine(daemon: OwnDaemon) -> AsyncIterator[DockerEngine]:
    settings = DockerSettings(host=daemon.address, image=EMPTY, pull_policy="never")
    engine = DockerEngine(settings)
    yield engine
    await engine.aclose()
    assert everything(daemon.address) == set()


async def run(engine: DockerEngine, *words: str, wait: asyncio.Event | None = None) -> Outcome:
    """With `wait`, its stdin stays open until that."""

    async def silence() -> AsyncIterator[bytes]:
        assert wait is not None
        await wait.wait()
        yield b""

    with Bundle((File("a", b"a"),)) as files:
        job = Job((f"{WARDEN}/warden", *words), files)
        return await execute(engine, job, stdin=silence() if wait else None)


async def works(engine: DockerEngine) -> bool:
    return (await run(engine)).exit_code == 64  # it says that it needs an argument


async def test_a_daemon_that_is_restarted(daemon: OwnDaemon, engine: DockerEngine) -> None:
    assert await works(engine)
    running = asyncio.create_task(run(engine, "run", wait=asyncio.Event()))
    await asyncio.sleep(1)
    assert not running.done()
    await asyncio.to_thread(daemon.stop)
    with pytest.raises(EngineUnavailable):
        await running
    with pytest.raises(EngineUnavailable, match="Docker does not answer") as caught:
        await run(engine)
    assert "DOCKER_HOST" in caught.value.hint
    await asyncio.to_thread(daemon.start)
    left = everything(daemon.address)
    assert await works(engine)
    now = everything(daemon.address)
    assert (len(left), len(now)) == (2, 1)  # but for the warden's volume, it is as it was


async def test_a_daemon_that_hangs(daemon: OwnDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coderunner.engines.docker.daemon._PATIENCE_S", 2)
    engine = DockerEngine(DockerSettings(host=daemon.address, image=EMPTY))
    try:
        assert await works(engine)
        pid = daemon.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(EngineUnavailable, match="timed out"):
                await run(engine)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert await works(engine)
    finally:
        await engine.aclose()
    # Not even the container that it has made for somebody who had gone.
    assert everything(daemon.address) == set()


async def test_a_daemon_that_is_slow(daemon: OwnDaemon, engine: DockerEngine) -> None:
    """It stands still for most of the time, in the midst of everything."""
    pid = daemon.pid

    async def hold() -> None:
        while True:
            os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(0.2)
            os.kill(pid, signal.SIGCONT)
            await asyncio.sleep(0.02)

    holding = asyncio.create_task(hold())
    try:
        assert all(await asyncio.gather(*(works(engine) for _ in range(4))))
    finally:
        holding.cancel()
        os.kill(pid, signal.SIGCONT)


async def test_an_image_that_vanishes(daemon: OwnDaemon, engine: DockerEngine) -> None:
    assert await works(engine)
    with contextlib.closing(connect(daemon.address)) as client:
        client.images.remove(EMPTY, force=True)
    for _ in range(2):
        with pytest.raises(EngineUnavailable, match=f"{EMPTY} is not here") as caught:
            await run(engine)
        assert f"docker pull {EMPTY}" in caught.value.hint
    make_empty(daemon)
    assert await works(engine)


async def test_another_image_of_that_name(daemon: OwnDaemon, engine: DockerEngine) -> None:
    """Whoever builds an image anew, and removes the old one, waits for nothing."""
    assert await works(engine)
    with contextlib.closing(connect(daemon.address)) as client:
        client.images.remove(EMPTY, force=True)
    make_empty(daemon, "another file")
    assert await works(engine)


async def test_a_daemon_without_space(
    daemon: OwnDaemon, engine: DockerEngine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert await works(engine)
    filler = Path(daemon.address.removeprefix("unix://")).parent / "data" / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 20))
    with filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(512))
    try:
        with pytest.raises(EngineUnavailable, match=r"(?i)no space left") as caught:
            await run(engine)
        assert "docker system" in caught.value.hint
    finally:
        filler.unlink()
    assert await works(engine)
