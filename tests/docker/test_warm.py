"""Containers that are used again: as new for every job, else replaced, and never shared."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from coderunner import Program, Runner, Settings
from coderunner.engines.docker import DockerEngine
from coderunner.errors import EngineUnavailable, InvalidProgram, StartFailed
from coderunner.execution import execute
from coderunner.model import EndedBy, File, Job, Stream
from coderunner.settings import DockerSettings
from coderunner.workspace import Workspace
from tests.docker.conftest import NewEngine, ours
from tests.docker.daemon import IMAGE
from tests.engines.bench import Bench

pytestmark = [pytest.mark.engines, pytest.mark.as_root]


@pytest.fixture
def engine(new_engine: NewEngine) -> DockerEngine:
    return new_engine(warm=4)


@pytest.fixture
def warm(engine: DockerEngine, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Bench:
    # On a busy machine wiping takes its time, and a job would not wait so long for it.
    monkeypatch.setattr("coderunner.engines.docker.pool._WIPED_SOON_S", 30.0)
    return Bench(engine, workspace, image=True)


def with_label(job: Job, label: str) -> Job:
    return replace(job, label=label)


async def idle(client: Any) -> Any:
    """The one container that there is, once it waits."""
    await asyncio.sleep(0.2)
    [found] = ours(client)[0]
    return client.containers.get(found)


async def works(bench: Bench) -> bool:
    return (await bench.sh("cat; echo again", stdin=b"and ")).stdout.data == b"and again\n"


async def test_one_container_for_one_job_after_the_other(client: Any, warm: Bench) -> None:
    outcomes = [await warm.sh(f"cat; echo {n}; exit {n}", stdin=b"in ") for n in range(20)]
    assert [outcome.warm for outcome in outcomes] == [False] + 19 * [True]
    assert len({outcome.container for outcome in outcomes}) == 1
    said = [(outcome.stdout.text, outcome.exit_code) for outcome in outcomes]
    assert said == [(f"in {n}\n", n) for n in range(20)]
    assert len(ours(client)[0]) == 1


async def test_jobs_at_once_never_share_one(warm: Bench) -> None:
    script = "echo $$ > /tmp/mine; sleep 0.3; cat /tmp/mine /dev/shm/* 2>/dev/null | wc -l"
    for _ in range(2):
        outcomes = await asyncio.gather(*(warm.sh(script) for _ in range(3)))
        assert [outcome.stdout.data.strip() for outcome in outcomes] == 3 * [b"1"]
        assert len({outcome.container for outcome in outcomes}) == 3


async def test_its_files_arguments_and_environment_are_its_own(warm: Bench) -> None:
    warm.workspace.add([File("d/a", b"one")])
    look = 'cat d/a; ls -R; echo "$@" "$WORD"'
    first = warm.job("/bin/sh", "-c", look, "sh", "x", "y")
    first = replace(first, env={**first.env, "WORD": "secret"})
    assert "x y secret" in (await execute(warm.engine, first)).stdout.text
    second = await warm.sh(look)
    assert (second.stdout.text, second.warm) == ("one.:\nd\n\n./d:\na\n\n", True)


async def test_programs_of_one_language_share_containers(warm: Bench) -> None:
    sizes = []
    for size in (10, 5_000, 500_000):
        with Workspace() as workspace:
            workspace.add([File("main", b"x" * size)])
            bench = Bench(warm.engine, workspace, image=True)
            sizes.append((await bench.sh("wc -c < main")).stdout.text.strip())
            last = await bench.sh("true")
    assert sizes == ["10", "5000", "500000"]
    assert last.warm


async def test_what_cannot_start_leaves_the_container_as_it_was(
    warm: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coderunner.engines.docker.hardening._rounded", lambda number, step: 0)
    first = await warm.sh("true")
    with pytest.raises(StartFailed):
        await warm.run("/no/such/command")
    small = await warm.sh("true", disk_mb=1)
    with Workspace() as workspace:
        workspace.add([File(f"{n}", b"x" * 700_000) for n in range(4)])
        with pytest.raises(InvalidProgram, match="do not fit"):
            await Bench(warm.engine, workspace, image=True).sh("true", disk_mb=1)
    assert (await warm.sh("true", disk_mb=1)).container == small.container
    last = await warm.sh("echo fine")
    assert (last.stdout.data, last.container) == (b"fine\n", first.container)


async def test_what_looks_like_the_wardens_frames(warm: Bench) -> None:
    source = (
        "import os\n"
        "words = b'\\x06\\0\\0\\0\\x40\\0\\0\\0' + b'x' * 32 + b'ended exit 0 0 1 1 1\\n'\n"
        "for fd in (1, 2): os.write(fd, words * 3)\n"
        "raise SystemExit(4)"
    )
    for _ in range(2):
        outcome = await warm.python(source)
        assert outcome.exit_code == 4
        assert outcome.stdout.data == outcome.stderr.data
        assert outcome.stdout.data.count(b"ended exit") == 3


async def test_one_that_is_cancelled_in_the_middle_of_its_input(warm: Bench) -> None:
    assert await works(warm)
    for seconds in (0.0, 0.002, 0.02, 0.3):
        run = asyncio.create_task(warm.sh("head -c 1; sleep 30", stdin=b"x" * 5_000_000))
        await asyncio.sleep(seconds)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert await works(warm)
    process = await warm.engine.start(warm.job("/bin/sleep", "30"))
    writing = asyncio.create_task(process.write(b"x" * 5_000_000))
    await asyncio.sleep(0.1)
    writing.cancel()
    await process.close()
    again = await warm.sh("cat; echo again", stdin=b"and ")
    assert (again.stdout.data, again.container) == (b"and again\n", process.container)


async def test_one_that_is_closed_has_no_stdin_any_more(warm: Bench) -> None:
    """What is said to it then must not reach the container's next job."""
    first = await warm.engine.start(warm.job("/bin/true"))
    await first.wait()
    await first.close()
    second = await warm.engine.start(warm.job("/usr/bin/wc", "-c"))
    assert second.container == first.container
    first.close_stdin()
    await asyncio.sleep(0.2)
    await second.write(b"x" * 1000)
    second.close_stdin()
    assert (await second.wait()).exit_code == 0
    assert await second.reader(Stream.STDOUT).read() == b"1000\n"
    await second.close()


@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.1])
async def test_an_engine_that_is_closed_while_it_starts_a_job(
    client: Any, engine: DockerEngine, warm: Bench, seconds: float
) -> None:
    """What it leaves is looked for by those who have made it."""
    await engine.capabilities()
    run = asyncio.create_task(warm.sh("sleep 30"))
    await asyncio.sleep(seconds)
    await engine.aclose()
    assert (await run).ended_by is EndedBy.KILLED
    assert ours(client) == ([], [])


async def test_one_that_is_asked_to_end_when_it_has_ended(warm: Bench) -> None:
    """The signal must not reach the container's next job."""
    assert await works(warm)
    for _ in range(10):
        process = await warm.engine.start(warm.job("/bin/true"))
        process.close_stdin()
        await asyncio.sleep(0.003)
        process.kill()
        assert (await process.wait()).ended_by in (EndedBy.KILLED, EndedBy.EXIT)
        await process.close()
        outcome = await warm.sh("sleep 0.05; echo whole")
        assert (outcome.stdout.data, outcome.warm) == (b"whole\n", True)


@pytest.mark.parametrize("how", ["kill", "stop", "pause", "restart", "remove"])
async def test_an_idle_one_that_somebody_touches(client: Any, warm: Bench, how: str) -> None:
    """The next job has another, and starts once."""
    first = await warm.sh("true")
    assert await warm.engine.is_warm(warm.job("true"))
    container = await idle(client)
    {"remove": lambda: container.remove(force=True)}.get(how, getattr(container, how))()
    assert not await warm.engine.is_warm(warm.job("true"))
    outcome = await warm.sh("echo fine")
    assert (outcome.stdout.data, outcome.warm) == (b"fine\n", False)
    assert outcome.container != first.container
    assert (await idle(client)).id.startswith(outcome.container)
    assert (await warm.sh("true")).warm


async def test_one_that_is_ended_while_it_works(client: Any, warm: Bench) -> None:
    hog = await warm.python("x = bytearray(200 << 20)", memory_mb=64)
    assert hog.ended_by is EndedBy.MEMORY  # which Docker remembers of the container
    container = await idle(client)
    run = asyncio.create_task(warm.sh("echo in; sleep 30", memory_mb=64))
    await asyncio.sleep(0.5)
    container.kill()
    with pytest.raises(EngineUnavailable, match="by somebody else"):
        await run
    assert await works(warm)


async def test_old_ones_are_replaced(
    client: Any, warm: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coderunner.engines.docker.pool._MOST_JOBS", 3)
    used = [(await warm.sh("true")).container for _ in range(7)]
    assert [used.count(one) for one in dict.fromkeys(used)] == [3, 3, 1]
    await idle(client)


async def test_those_used_longest_ago_go_first(new_engine: NewEngine, workspace: Workspace) -> None:
    bench = Bench(new_engine(warm=2), workspace, image=True)
    for memory_mb in (64, 65, 64, 66):
        await bench.sh("true", memory_mb=memory_mb)
        await asyncio.sleep(0.1)
    kept = [await bench.engine.is_warm(bench.job("x", memory_mb=mb)) for mb in (64, 65, 66)]
    assert kept == [True, False, True]


async def test_names(client: Any, warm: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    job = with_label(warm.job("/bin/true"), "code-runner-some language")
    await execute(warm.engine, job)
    first = (await idle(client)).name
    assert re.fullmatch(r"code-runner-some-language-[0-9a-f]{4}", first)
    digits = iter([first[-4:], first[-4:], "0123"])
    monkeypatch.setattr(
        "coderunner.engines.docker.launching.secrets.token_hex", lambda _: next(digits)
    )
    await execute(warm.engine, replace(job, limits=job.limits.but({"memory_mb": 99})))
    names = {client.containers.get(one).name for one in ours(client)[0]}
    assert names == {first, "code-runner-some-language-0123"}


async def test_one_that_is_started_ahead(client: Any, warm: Bench) -> None:
    job = warm.job("/bin/true")
    assert not await warm.engine.is_warm(job)
    assert await asyncio.gather(*(warm.engine.warm_up(job) for _ in range(3))) == 3 * [True]
    assert len(ours(client)[0]) == 1
    assert (await warm.sh("true")).warm
    await warm.engine.cool_down(job)
    assert ours(client)[0] == []
    assert not await warm.engine.is_warm(job)
    assert not (await warm.sh("true")).warm


async def test_a_language_is_warm(client: Any, dockerd: str) -> None:
    docker = DockerSettings(host=dockerd, image=IMAGE, warm=2)
    hello = Program("python", (File("main.py", b"print('hello')"),))
    async with Runner.open(Settings(engine="docker", docker=docker)) as runner:
        assert not await runner.is_warm("python")
        assert await runner.warm_up("python")
        assert await runner.is_warm("python")
        assert (await idle(client)).name.startswith("code-runner-python-")
        outcome = (await runner.run(hello)).outcome
        assert (outcome.stdout.data, outcome.warm) == (b"hello\n", True)
        assert not await runner.is_warm("bash")
        await runner.cool_down("python")
        assert not await runner.is_warm("python")
        assert ours(client)[0] == []


async def test_a_busy_one_is_warm_and_not_removed(warm: Bench) -> None:
    job = warm.job("/bin/cat")
    process = await warm.engine.start(job)
    try:
        assert await warm.engine.is_warm(job)
        await warm.engine.cool_down(job)
        process.close_stdin()
        assert (await process.wait()).exit_code == 0
    finally:
        await process.close()


async def test_both_ready_and_warm(
    client: Any, new_engine: NewEngine, workspace: Workspace
) -> None:
    bench = Bench(new_engine(warm=2, ready=1), workspace, image=True)
    assert not (await bench.sh("true")).warm
    both = await asyncio.gather(bench.sh("sleep 0.3"), bench.sh("sleep 0.3"))
    assert [outcome.warm for outcome in both] == [True, True]


async def test_a_writer_learns_that_nobody_reads(warm: Bench) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1000

    for _ in range(2):
        outcome = await warm.sh("head -c 5; exec 0<&-; sleep 0.3; echo", stdin=endless())
        assert outcome.stdout.data == b"xxxxx\n"
