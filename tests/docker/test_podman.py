"""Podman's socket talks as Docker's does, and cannot do what is needed: it is refused."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coderunner.engines.docker import DockerEngine
from coderunner.errors import EngineUnavailable
from coderunner.settings import DockerSettings
from tests.docker.unpacked import program

pytestmark = [pytest.mark.engines, pytest.mark.as_root]

PACKAGES = ("podman", "conmon", "libgpgme11", "libassuan0", "libsubid4", "libglib2.0-0")
STARTING_S = 30


@pytest.fixture
def folder() -> Iterator[Path]:
    """Podman wants short names."""
    with tempfile.TemporaryDirectory(prefix="podman-") as name:
        yield Path(name)


@pytest.fixture
def podman(folder: Path) -> Iterator[str]:
    """Its address. What it mounts, nobody else sees."""
    found = program("podman", *PACKAGES)
    socket = folder / "podman.sock"
    own = (f"--root={folder}/root", f"--runroot={folder}/runroot", "--cgroup-manager=cgroupfs")
    service = ("system", "service", "--time=0", f"unix://{socket}")
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            ["unshare", "--mount", found.path, *own, *service],
            env=found.env,
            stdout=log,
            stderr=log,
        )
    try:
        until = time.monotonic() + STARTING_S
        while not socket.exists():
            assert time.monotonic() < until, (folder / "log").read_text()
            time.sleep(0.05)
        yield f"unix://{socket}"
    finally:
        server.terminate()
        server.wait(timeout=30)


async def test_podman_is_refused(podman: str) -> None:
    engine = DockerEngine(DockerSettings(host=podman))
    with pytest.raises(EngineUnavailable, match="Podman's socket") as caught:
        await engine.capabilities()
    assert "the linux engine" in caught.value.hint
    await engine.aclose()
