"""What the docker engine's meters say on cgroup v2, in the virtual machine. Run by docker.sh."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from coderunner.engines.base import State
from coderunner.engines.docker import DockerEngine
from coderunner.model import EndedBy, Isolation
from coderunner.settings import DockerSettings
from coderunner.workspace import Workspace
from tests.docker.daemon import IMAGE
from tests.engines.bench import Bench

MIB_KB = 1024
METERS = ("memory", "processes", "cpu time", "cpus")


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace() as workspace:
        yield workspace


@pytest.fixture
async def docker(workspace: Workspace) -> AsyncIterator[Bench]:
    engine = DockerEngine(DockerSettings(image=IMAGE))
    yield Bench(engine, workspace, image=True)
    await engine.aclose()


async def test_hello(docker: Bench) -> None:
    outcome = await docker.sh("echo hello")
    assert outcome.stdout.data == b"hello\n"
    assert outcome.isolation is Isolation.FULL


async def test_all_meters_are_the_kernels(docker: Bench) -> None:
    controls = {one.name: one for one in (await docker.engine.capabilities()).controls}
    assert {controls[name].state for name in METERS} == {State.ENFORCED}
    assert controls["memory"].reason == "cgroup v2"


async def test_peak_memory(docker: Bench) -> None:
    outcome = await docker.python("x = bytearray(100 << 20)", memory_mb=200)
    assert 100 * MIB_KB < outcome.usage.memory_peak_kb < 130 * MIB_KB


async def test_memory_of_all_processes_together(docker: Bench) -> None:
    source = """
import os, signal
for _ in range(3):
    told, tell = os.pipe()
    if not os.fork():
        x = bytearray(30 << 20)
        os.write(tell, b"x")
        signal.pause()
    os.read(told, 1)
"""
    outcome = await docker.python(source, memory_mb=200)
    assert outcome.usage.memory_peak_kb > 90 * MIB_KB


async def test_who_kills_himself_is_not_out_of_memory(docker: Bench) -> None:
    outcome = await docker.sh("kill -9 $$", memory_mb=64)
    assert outcome.ended_by is EndedBy.SIGNAL


async def test_who_goes_on_after_a_child_was_too_large(docker: Bench) -> None:
    source = """
import os
if not os.fork():
    x = bytearray(300 << 20)
os.wait()
print("still here", flush=True)
"""
    outcome = await docker.python(source, memory_mb=64)
    assert outcome.ended_by is EndedBy.MEMORY


async def test_cpu_time_is_the_whole_trees(docker: Bench) -> None:
    spin = "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'"
    one = await docker.sh(spin)
    three = await docker.sh(f"{spin}; {spin}; {spin}")
    assert three.usage.cpu_ms > 1.5 * one.usage.cpu_ms > 0


async def test_cpus(docker: Bench) -> None:
    outcome = await docker.sh("while :; do :; done", cpus=0.2, wall_ms=3000)
    assert outcome.ended_by is EndedBy.WALL_TIME
    assert outcome.usage.cpu_ms < 0.5 * outcome.usage.wall_ms


async def test_two_do_not_share_a_meter(docker: Bench) -> None:
    large = docker.python("x = bytearray(100 << 20)", memory_mb=200)
    small = docker.python("pass", memory_mb=200)
    outcomes = await asyncio.gather(large, small)
    assert outcomes[1].usage.memory_peak_kb < 50 * MIB_KB
