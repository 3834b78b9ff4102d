"""Callers that fork: a child holds nothing of its parent's runs, and can have runs of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.every import EMBEDDED
from tests.engines.test_linux_lifecycle import alive, family_of, wait_for
from tests.support import require_sandbox

pytestmark = pytest.mark.engines

# One run is under way, with its stdin still open, when the caller forks.
CALLER = """
import asyncio, os, signal, subprocess, multiprocessing, sys
import coderunner
from coderunner import File, InvalidInput, Program, Runner, Settings

# Should a test fail, its children go all the same.
os.register_at_fork(after_in_child=lambda: signal.alarm(60))

def program(text):
    return Program("bash", (File("main.sh", text.encode()),))

async def main(runner):
    started, end_stdin, seen = asyncio.Event(), asyncio.Event(), []

    async def stdin():
        yield b"first\\n"
        await end_stdin.wait()

    async def sink(stream, data):
        seen.append(data)
        started.set()

    run = asyncio.create_task(runner.run(program("cat; echo end"), stdin=stdin(), sink=sink))
    await started.wait()
BODY

engine = sys.argv[1]
settings = Settings(engine=engine, min_isolation="none")
asyncio.run(main(Runner.open(settings)))
"""


@pytest.fixture(params=EMBEDDED)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param != "process":
        require_sandbox()
    return str(request.param)


@pytest.fixture
def children() -> Iterator[list[int]]:
    """The pids of forked children, which are ended in the end."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def start(body: str, engine: str, tmp_path: Path) -> subprocess.Popen[bytes]:
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    script = CALLER.replace("BODY\n", lines)
    return subprocess.Popen([sys.executable, "-c", script, engine], stdout=subprocess.PIPE, env=env)


def output_of(body: str, engine: str, tmp_path: Path) -> str:
    with start(body, engine, tmp_path) as caller:
        try:
            out, _ = caller.communicate(timeout=30)
        finally:
            caller.kill()
    assert caller.returncode == 0
    return out.decode()


def test_a_killed_caller_takes_everything_with_it_although_a_child_lives(
    engine: str, tmp_path: Path, children: list[int]
) -> None:
    body = """
child = os.fork()
if child == 0:
    signal.pause()
print(child, flush=True)
await run
"""
    with start(body, engine, tmp_path) as caller:
        assert caller.stdout is not None
        children.append(int(caller.stdout.readline()))
        family = wait_for(lambda: family_of(caller.pid, 4))
        family.remove(children[0])
        caller.kill()
        caller.wait(30)
    wait_for(lambda: not any(map(alive, family)))
    assert alive(children[0])


def test_a_childs_copies_do_not_keep_a_stdin_open(
    engine: str, tmp_path: Path, children: list[int]
) -> None:
    body = """
child = os.fork()
if child == 0:
    os.close(1)
    signal.pause()
end_stdin.set()
result = await run
print(child, result.stdout.split(), flush=True)
await runner.aclose()
"""
    child, _, said = output_of(body, engine, tmp_path).partition(" ")
    children.append(int(child))
    assert said.strip() == "['first', 'end']"


def test_a_child_holds_no_descriptor_of_its_parents(engine: str, tmp_path: Path) -> None:
    """Those of the event loop are not ours."""
    body = """
def held():
    found = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd") if int(fd) > 2]
    names = [os.readlink(link) for link in found if os.path.lexists(link)]
    return [name for name in names if "coderunner" in name or name.startswith("pipe:")]

before = len(held())
if os.fork() == 0:
    print(before > 4, len(held()), flush=True)
    os._exit(0)
os.wait()
end_stdin.set()
await run
await runner.aclose()
"""
    assert output_of(body, engine, tmp_path).strip() == "True 0"


def test_a_runner_of_the_parents_refuses_a_child_and_leaves_the_parent_alone(
    engine: str, tmp_path: Path
) -> None:
    body = """
if os.fork() == 0:
    asyncio._set_running_loop(None)
    try:
        asyncio.run(runner.run(program("echo")))
    except InvalidInput as error:
        print(error, flush=True)
    asyncio.run(runner.aclose())

    async def own():
        async with Runner.open(settings) as other:
            return (await other.run(program("echo in the child"))).stdout.strip()

    print(asyncio.run(own()), flush=True)
    os._exit(0)
await asyncio.to_thread(os.wait)
end_stdin.set()
print((await run).stdout.split())
print((await runner.run(program("echo the parent"))).stdout.strip())
await runner.aclose()
"""
    assert output_of(body, engine, tmp_path).splitlines() == [
        "this runner was made before a fork, and is the parent's",
        "in the child",
        "['first', 'end']",
        "the parent",
    ]


def test_an_engine_that_a_child_uses_starts_anew(tmp_path: Path) -> None:
    require_sandbox()
    body = """
if os.fork() == 0:
    asyncio._set_running_loop(None)

    async def own():
        async with Runner(runner.engine, settings=settings) as other:
            return (await other.run(program("echo in the child"))).stdout.strip()

    print(asyncio.run(own()), flush=True)
    os._exit(0)
await asyncio.to_thread(os.wait)
end_stdin.set()
print((await run).stdout.split())
await runner.aclose()
"""
    said = output_of(body, "linux", tmp_path).splitlines()
    assert said == ["in the child", "['first', 'end']"]


def test_callers_may_start_processes_in_every_way(engine: str, tmp_path: Path) -> None:
    body = """
def start_processes():
    word = subprocess.run(["echo", "hello"], capture_output=True, preexec_fn=os.getpid).stdout
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return word, pool.map(abs, [-1, -2])

others = [asyncio.create_task(runner.run(program("echo x"))) for _ in range(20)]
print(await asyncio.to_thread(start_processes))
print({(await other).stdout for other in others})
end_stdin.set()
print((await run).stdout.split())
await runner.aclose()
"""
    assert output_of(body, engine, tmp_path).splitlines() == [
        "(b'hello\\n', [1, 2])",
        "{'x\\n'}",
        "['first', 'end']",
    ]
