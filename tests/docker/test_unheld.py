"""Daemons whose containers are not as others' are: held by no cgroup, or in a user namespace."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from coderunner.engines.base import State
from coderunner.engines.docker import DockerEngine, hardening
from coderunner.execution import execute
from coderunner.model import EndedBy, Job, Limits
from coderunner.settings import DockerSettings
from coderunner.workspace import Bundle
from tests.docker.conftest import ours
from tests.docker.daemon import OwnDaemon, connect
from tests.docker.tiny import TALK, TALKING, make_talking
from tests.engines.bench import Bench
from tests.support import leave_out

pytestmark = [pytest.mark.engines, pytest.mark.as_root]

FIRST, COUNT = 300_000, 65_536


@pytest.fixture
def unheld(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """As on a rootless daemon without cgroups: the container's limits hold nobody."""
    real = hardening.for_one

    def for_one(*arguments: Any, **more: Any) -> dict[str, Any]:
        made = real(*arguments, **more)
        for name in ("Memory", "MemorySwap", "PidsLimit"):
            del made["HostConfig"][name]
        return made

    monkeypatch.setattr(hardening, "for_one", for_one)
    return bench


async def test_memory_is_sampled(unheld: Bench) -> None:
    source = "x = []\nwhile len(x) < 1000: x.append(bytearray(1 << 20))"
    outcome = await unheld.python(source, memory_mb=64)
    assert outcome.ended_by is EndedBy.MEMORY


async def test_processes_are_sampled(unheld: Bench) -> None:
    source = """
import os, time
for _ in range(100):
    if not os.fork():
        time.sleep(10)
time.sleep(10)
"""
    outcome = await unheld.python(source, processes=20)
    assert outcome.ended_by is EndedBy.PROCESSES


async def test_cpu_time_is_the_programs(unheld: Bench) -> None:
    outcome = await unheld.sh("sleep 0.5")
    assert outcome.usage.cpu_ms < 400
    outcome = await unheld.sh("(while :; do :; done) & sleep 20", cpu_ms=300)
    assert outcome.ended_by is EndedBy.CPU_TIME


@pytest.fixture
def remapped() -> Iterator[OwnDaemon]:
    """A daemon whose containers are in a user namespace, of a user that it alone knows."""
    if not shutil.which("dockerd"):
        leave_out("there is no dockerd", fix="apt-get install docker.io")
    with tempfile.TemporaryDirectory(prefix="docker-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # who is root in there, is nobody out here
        mapping = f"tests:{FIRST}:{COUNT}\n"
        passwd, group = Path("/etc/passwd").read_text(), Path("/etc/group").read_text()
        seen = {
            "/etc/passwd": f"{passwd}tests:x:64998:64998::/:/bin/false\n",
            "/etc/group": f"{group}tests:x:64998:\n",
            "/etc/subuid": mapping,
            "/etc/subgid": mapping,
        }
        daemon = OwnDaemon(folder, "--userns-remap=tests", seeing=seen)
        try:
            daemon.start()
            make_talking(daemon)
            yield daemon
        finally:
            daemon.stop()


@pytest.fixture
async def engine(remapped: OwnDaemon) -> AsyncIterator[DockerEngine]:
    engine = DockerEngine(DockerSettings(host=remapped.address, image=TALKING))
    yield engine
    await engine.aclose()
    client = connect(remapped.address)
    assert ours(client) == ([], [])
    client.close()


async def test_in_a_user_namespace(engine: DockerEngine) -> None:
    controls = {one.name: one.state for one in (await engine.capabilities()).controls}
    assert controls["user namespace"] is State.ENFORCED
    with Bundle(()) as nothing:
        job = Job((TALK, "show", "/proc/self/uid_map"), nothing, limits=Limits(wall_ms=20_000))
        outcome = await execute(engine, job)
    assert outcome.stdout.text.split() == ["0", str(FIRST), str(COUNT)]


@pytest.mark.parametrize(
    ("facts", "most"),
    [
        ({}, 1 << 31),
        ({"SecurityOptions": ["name=seccomp,profile=default"]}, 1 << 31),
        ({"SecurityOptions": ["name=seccomp,profile=default", "name=userns"]}, 1 << 16),
        ({"SecurityOptions": ["name=rootless"]}, 1 << 16),
    ],
)
def test_users_are_among_those_there_are(facts: Mapping[str, Any], most: int) -> None:
    assert hardening.uids(facts)[-1] < most
    assert len(hardening.uids(facts)) > 50_000
