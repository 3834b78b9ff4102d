"""gVisor as the runtime: a kernel of its own, and meters that are ours."""

from __future__ import annotations

from typing import Any

import pytest

from coderunner.engines.base import State
from coderunner.errors import EngineUnavailable
from coderunner.model import EndedBy, Isolation
from coderunner.workspace import Workspace
from tests.docker.conftest import NewEngine
from tests.docker.daemon import RUNSC
from tests.engines.bench import Bench
from tests.support import leave_out

pytestmark = [pytest.mark.engines, pytest.mark.as_root]


@pytest.fixture
def gvisor(client: Any, new_engine: NewEngine, workspace: Workspace) -> Bench:
    if RUNSC not in client.info()["Runtimes"]:
        leave_out("this Docker has no runtime runsc", fix="apt-get install runsc")
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


async def test_an_unknown_runtime(new_engine: NewEngine, workspace: Workspace) -> None:
    with pytest.raises(EngineUnavailable, match="no-such-runtime"):
        await Bench(new_engine(runtime="no-such-runtime"), workspace).sh("true")
