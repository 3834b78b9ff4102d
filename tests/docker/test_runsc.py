"""gVisor as the runtime: a kernel of its own, and meters that are ours."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from coderunner.doctor import examine
from coderunner.engines.base import State
from coderunner.errors import EngineUnavailable
from coderunner.model import EndedBy, Isolation
from coderunner.settings import DockerSettings, Settings
from coderunner.workspace import Workspace
from tests.docker.conftest import NewEngine, with_a_job
from tests.docker.daemon import IMAGE, RUNSC
from tests.engines.bench import Bench
from tests.engines.every import require_runtime

pytestmark = [pytest.mark.engines, pytest.mark.as_root]


@pytest.fixture
def gvisor(client: Any, new_engine: NewEngine, workspace: Workspace) -> Bench:
    require_runtime(client, RUNSC)
    return Bench(new_engine(runtime=RUNSC), workspace, image=True)


async def test_it_is_a_kernel_of_its_own(gvisor: Bench) -> None:
    offered = await gvisor.engine.capabilities()
    assert offered.isolation is Isolation.VM
    outcome = await gvisor.sh("dmesg")
    assert b"gVisor" in outcome.stdout.data
    assert outcome.isolation is Isolation.VM


async def test_facts(gvisor: Bench) -> None:
    outcome = await gvisor.sh("cat; echo oops >&2; exit 3", stdin=b"in" * 100_000)
    assert (outcome.exit_code, outcome.stdout.data) == (3, b"in" * 100_000)
    assert outcome.stderr.data == b"oops\n"
    assert (await gvisor.sh("kill -SEGV $$")).signal == 11


async def test_the_doctor(gvisor: Bench, dockerd: str) -> None:
    """What is gVisor's own, and not the host's, is no hole."""
    docker = DockerSettings(host=dockerd, image=IMAGE, runtime=RUNSC)
    report = await examine(Settings(engine="docker", docker=docker, min_isolation=Isolation.VM))
    absent = {one.name for one in report.findings if one.state is State.ABSENT}
    assert (report.claimed, report.proven) == (Isolation.VM, Isolation.VM), absent
    assert absent <= {"landlock", "user namespace", "seccomp filter", "devices", "files", "cpus"}
    assert not any("report this" in one.fix for one in report.findings)


async def test_none_is_used_again(new_engine: NewEngine, gvisor: Bench) -> None:
    """There a program can change the limits of its warden, and so the next one's."""
    bench = Bench(new_engine(runtime=RUNSC, warm=2), gvisor.workspace, image=True)
    outcomes = [await bench.sh("cat /tmp/left; echo left > /tmp/left") for _ in range(2)]
    assert [(one.warm, one.stdout.data) for one in outcomes] == 2 * [(False, b"")]
    assert not await bench.engine.warm_up(bench.job("/bin/true"))
    assert not await bench.engine.is_warm(bench.job("/bin/true"))


async def test_wall_time(gvisor: Bench) -> None:
    outcome = await gvisor.sh("echo before; sleep 30", wall_ms=700)
    assert (outcome.ended_by, outcome.stdout.data) == (EndedBy.WALL_TIME, b"before\n")


async def test_what_no_cgroup_holds_is_sampled(gvisor: Bench) -> None:
    states = {one.name: one.state for one in (await gvisor.engine.capabilities()).controls}
    if states["memory"] is not State.SAMPLED:
        return  # a runtime that was set up with cgroups
    hog = "x = []\nwhile True: x.append(bytearray(1 << 20))"
    assert (await gvisor.python(hog, memory_mb=64)).ended_by is EndedBy.MEMORY
    forks = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 20 & done; wait"
    assert (await gvisor.sh(forks, processes=8)).ended_by is EndedBy.PROCESSES
    assert (await gvisor.sh("while :; do :; done", cpu_ms=300)).ended_by is EndedBy.CPU_TIME
    with pytest.raises(EngineUnavailable, match="cpus cannot be held here"):
        await gvisor.sh("true", cpus=0.5)


async def test_a_program_that_ends_its_warden(gvisor: Bench) -> None:
    """Which this kernel lets it do. Only its own run is over, and by its own doing."""
    outcome = await gvisor.sh("kill -KILL 1; sleep 30")
    assert (outcome.ended_by, outcome.signal) == (EndedBy.SIGNAL, 9)


async def test_a_program_that_stops_its_warden(
    gvisor: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coderunner.engines.docker.running._LATE_S", 1.0)
    outcome = await gvisor.sh("kill -STOP 1; sleep 30", wall_ms=500)
    assert outcome.ended_by is EndedBy.WALL_TIME


async def test_somebody_else_who_ends_it(client: Any, gvisor: Bench) -> None:
    run = asyncio.create_task(gvisor.sh("sleep 30"))
    while True:
        await asyncio.sleep(0.05)
        if found := with_a_job(client):
            break
    await asyncio.to_thread(client.containers.get(found[0]).kill)
    with pytest.raises(EngineUnavailable, match="by somebody else"):
        await run


async def test_a_bomb_ends_at_a_few_more_than_are_allowed(gvisor: Bench) -> None:
    """It is faster than anybody who looks now and then, and each costs the host several."""
    source = """
import os, time
for count in range(200):
    try:
        if not os.fork():
            time.sleep(30)
    except OSError:
        break
os.write(1, b"%d" % count)
time.sleep(30)
"""
    outcome = await gvisor.python(source, processes=20, memory_mb=4000)
    assert outcome.ended_by is EndedBy.PROCESSES
    assert outcome.stdout.data == b"" or int(outcome.stdout.data) < 30


async def test_an_unknown_runtime(new_engine: NewEngine, workspace: Workspace) -> None:
    with pytest.raises(EngineUnavailable, match="no-such-runtime") as caught:
        await Bench(new_engine(runtime="no-such-runtime"), workspace).sh("true")
    assert "CODERUNNER_DOCKER__RUNTIME" in caught.value.hint
