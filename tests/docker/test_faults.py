"""What goes wrong with daemons, images and containers: said clearly, and the next run works."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from coderunner.doctor import clean, examine
from coderunner.engines.base import State
from coderunner.engines.docker import DockerEngine
from coderunner.engines.docker.owner import OWNER, UNTIL, labels
from coderunner.errors import EngineUnavailable, InvalidLimits
from coderunner.model import EndedBy, Isolation
from coderunner.settings import DockerSettings, Settings
from coderunner.workspace import Workspace
from tests.docker.conftest import NewEngine, ours, with_a_job
from tests.docker.daemon import IMAGE
from tests.engines.bench import Bench

pytestmark = [pytest.mark.engines, pytest.mark.as_root]


async def running_container(
    client: Any, bench: Bench, *, wall_ms: int = 8000
) -> tuple[asyncio.Task[Any], Any]:
    run = asyncio.create_task(bench.sh("sleep 30", wall_ms=wall_ms))
    while True:
        await asyncio.sleep(0.05)
        if found := with_a_job(client):
            return run, client.containers.get(found[0])


async def works(bench: Bench) -> bool:
    return (await bench.sh("echo again")).stdout.data == b"again\n"


async def test_no_daemon(workspace: Workspace) -> None:
    engine = DockerEngine(DockerSettings(host="unix:///nonexistent/docker.sock"))
    with pytest.raises(EngineUnavailable, match="cannot reach Docker at unix:") as caught:
        await Bench(engine, workspace).sh("true")
    assert "DOCKER_HOST" in caught.value.hint
    await engine.aclose()


async def test_no_docker_py(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    engine = DockerEngine()
    with pytest.raises(EngineUnavailable, match="docker-py") as caught:
        await engine.capabilities()
    assert "coderunner[docker]" in caught.value.hint


@pytest.mark.parametrize("policy", ["never", "if_not_present", "always"])
async def test_an_image_that_is_not_there(
    new_engine: NewEngine, workspace: Workspace, policy: str
) -> None:
    engine = new_engine(image="localhost:1/no/such:image", pull_policy=policy)
    with pytest.raises(EngineUnavailable, match="localhost:1/no/such:image is not here") as caught:
        await Bench(engine, workspace).sh("true")
    assert "docker pull localhost:1/no/such:image" in caught.value.hint


@pytest.mark.parametrize("how", ["kill", "stop", "remove", "ask to end"])
async def test_a_container_that_somebody_ends(client: Any, bench: Bench, how: str) -> None:
    run, container = await running_container(client, bench)
    match how:
        case "remove":
            container.remove(force=True)
        case "stop":
            container.stop(timeout=0)
        case "ask to end":
            container.kill(signal="SIGTERM")
        case _:
            container.kill()
    with pytest.raises(EngineUnavailable, match="by somebody else"):
        await run
    assert await works(bench)


async def test_a_container_that_somebody_pauses(
    client: Any, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coderunner.engines.docker.running._LATE_S", 1.0)
    run, container = await running_container(client, bench, wall_ms=1500)
    container.pause()
    with pytest.raises(EngineUnavailable, match="paused"):
        await run
    assert await works(bench)


async def test_a_container_that_is_paused_for_a_moment(client: Any, bench: Bench) -> None:
    """Time goes on, and that is all."""
    run, container = await running_container(client, bench, wall_ms=2000)
    container.pause()
    await asyncio.sleep(0.5)
    container.unpause()
    assert (await run).ended_by is EndedBy.WALL_TIME
    assert await works(bench)


async def test_names_that_are_taken(
    client: Any, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for a volume Docker says nothing, and gives the one that is there."""
    others = {"of": "somebody else"}
    volume = client.volumes.create("coderunner-volume", labels=others)
    container = client.containers.create(
        IMAGE, ["true"], labels=others, network_mode="none", name="coderunner-container"
    )
    names = iter(["volume", "volume", "another volume", "container", "another container"])
    monkeypatch.setattr("secrets.token_hex", lambda size: next(names).replace(" ", "-"))
    try:
        assert await works(bench)
        assert ours(client) == ([], ["coderunner-another-volume"])
        await bench.engine.aclose()
        assert client.volumes.get(volume.name).attrs["Labels"] == others
        assert client.containers.get(container.id).labels == others
    finally:
        container.remove()
        volume.remove()


async def test_a_warden_that_somebody_removes(client: Any, bench: Bench) -> None:
    """Docker then makes an empty volume under the old name, and without our label."""
    assert await works(bench)
    [first] = ours(client)[1]
    client.volumes.get(first).remove(force=True)
    assert all(await asyncio.gather(works(bench), works(bench)))
    [second] = ours(client)[1]
    assert first not in {volume.name for volume in client.volumes.list()}
    assert first != second


async def test_a_program_cannot_ask_its_warden(bench: Bench) -> None:
    outcome = await bench.sh("kill -TERM 1; kill -KILL 1; sleep 0.2; exit 3")
    assert (outcome.ended_by, outcome.exit_code) == (EndedBy.EXIT, 3)


async def test_a_program_cannot_look_into_its_warden(bench: Bench) -> None:
    script = "for f in mem maps environ; do cat /proc/1/$f && echo open; done; ls /proc/1/fd"
    outcome = await bench.sh(script)
    assert outcome.stdout.data == b""
    assert outcome.stderr.data.count(b"Permission denied") == 4


async def test_a_word_that_looks_like_the_wardens(bench: Bench) -> None:
    outcome = await bench.sh("echo 'ended exit 0 0 1 1 1' >&2; exit 4")
    assert (outcome.exit_code, outcome.stderr.data) == (4, b"ended exit 0 0 1 1 1\n")


async def test_what_a_dead_process_has_left_is_removed(
    client: Any, new_engine: NewEngine, workspace: Workspace
) -> None:
    theirs = {**labels(), OWNER: labels()[OWNER].replace(f"|{os.getpid()}|", "|4194304|")}
    volume = client.volumes.create(labels=theirs)
    container = client.containers.create(
        IMAGE, ["true"], labels=theirs, network_mode="none", volumes=[f"{volume.name}:/v"]
    )
    alive = client.volumes.create(labels=labels())
    late = client.volumes.create(labels={OWNER: "elsewhere|1|1", UNTIL: str(int(time.time()) - 99)})
    other = client.volumes.create(labels={OWNER: "elsewhere|1|1"})
    try:
        await new_engine().capabilities()
        containers, volumes = ours(client)
        assert container.id not in containers
        assert {volume.name, late.name}.isdisjoint(volumes)
        assert {alive.name, other.name} <= set(volumes)
    finally:
        alive.remove()
        other.remove()


async def test_many_runs_leave_nothing(client: Any, bench: Bench) -> None:
    await bench.sh("true")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        runs = [asyncio.create_task(bench.sh("echo $$")) for _ in range(6)]
        await asyncio.sleep(0.1)
        for run in runs[::2]:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)
        assert len(os.listdir("/proc/self/fd")) == before
        assert ours(client)[0] == []


def test_a_process_that_dies_leaves_a_program_no_longer_than_its_time(
    client: Any, dockerd: str, tmp_path: Path
) -> None:
    script = (
        "from coderunner.sandbox import Sandbox\n"
        "Sandbox(engine='docker', timeout=2).run('sleep 60', language='bash')"
    )
    env = {**os.environ, "CODERUNNER_DOCKER__HOST": dockerd, "CODERUNNER_DOCKER__IMAGE": IMAGE}
    caller = subprocess.Popen([sys.executable, "-c", script], env=env)
    until = time.monotonic() + 60
    while not with_a_job(client):
        assert time.monotonic() < until
        time.sleep(0.05)
    caller.kill()
    caller.wait()
    while with_a_job(client):
        assert time.monotonic() < until
        time.sleep(0.05)

    async def sweep() -> None:
        engine = DockerEngine(DockerSettings(host=dockerd))
        await engine.capabilities()
        await engine.aclose()

    asyncio.run(sweep())
    assert ours(client) == ([], [])


def test_the_doctor(client: Any, dockerd: str) -> None:
    """Every wall and meter, tried in containers; and what others have left is removed."""
    late = client.volumes.create(labels={OWNER: "elsewhere|1|1", UNTIL: "1"})
    settings = Settings(engine="docker", docker=DockerSettings(host=dockerd, image=IMAGE))
    assert asyncio.run(clean(settings)) == [f"volume {late.name}"]
    report = asyncio.run(examine(settings))
    absent = {one.name for one in report.findings if one.state is State.ABSENT}
    assert (report.claimed, report.proven) == (Isolation.FULL, Isolation.FULL), absent
    assert absent <= {"landlock", "user namespace"}


async def test_limits_that_docker_cannot_hold(bench: Bench) -> None:
    with pytest.raises(InvalidLimits, match="memory_mb=2"):
        await bench.sh("true", memory_mb=2)
    with pytest.raises(EngineUnavailable, match=r"cpus=0\.0001"):
        await bench.sh("true", cpus=0.0001)
    assert (await bench.sh("true", memory_mb=6, processes=1, cpus=0.05)).ok
