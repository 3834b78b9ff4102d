"""Daemons that are reached by SSH: a real sshd on loopback, in front of a real daemon."""

from __future__ import annotations

import asyncio
import os
import pwd
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from coderunner.engines.docker import DockerEngine
from coderunner.errors import EngineUnavailable
from coderunner.model import EndedBy
from coderunner.settings import DockerSettings
from coderunner.workspace import Workspace
from coderunner.workspace.root import process_root
from tests.docker.daemon import IMAGE
from tests.docker.sshd import serving
from tests.engines.bench import Bench

pytestmark = [pytest.mark.engines, pytest.mark.as_root]

ME = pwd.getpwuid(0).pw_name  # these tests are root's
MIB = 1 << 20


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its host and port. `ssh` is one that it lets in."""
    folder = tmp_path_factory.mktemp("ssh")
    with serving(folder) as port, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        yield f"127.0.0.1:{port}"


@pytest.fixture
def address(sshd: str, dockerd: str) -> str:
    return f"ssh://{ME}@{sshd}{dockerd.removeprefix('unix://')}"


@pytest.fixture
async def far(address: str, workspace: Workspace) -> AsyncIterator[Bench]:
    engine = DockerEngine(DockerSettings(host=address, image=IMAGE))
    yield Bench(engine, workspace, image=True)
    await engine.aclose()
    assert tunnels() == []


def tunnels() -> list[Path]:
    return list(process_root().glob("ssh-*"))


def ssh_of(parent: int) -> list[int]:
    """The ssh commands that this process has started."""
    found = subprocess.run(
        ["pgrep", "--parent", str(parent), "--exact", "ssh"], capture_output=True, text=True
    )
    return [int(word) for word in found.stdout.split()]


async def test_streams_and_their_ends(far: Bench) -> None:
    outcome = await far.sh("wc -c; echo after >&2", stdin=bytes(3 * MIB))
    assert outcome.ended_by is EndedBy.EXIT
    assert outcome.stdout.data.strip() == str(3 * MIB).encode()
    assert outcome.stderr.data == b"after\n"


async def test_limits_hold(far: Bench) -> None:
    outcome = await far.sh("echo before; sleep 30", wall_ms=500)
    assert outcome.ended_by is EndedBy.WALL_TIME
    assert outcome.stdout.data == b"before\n"


async def test_many_at_once(far: Bench) -> None:
    outcomes = await asyncio.gather(*(far.sh(f"echo {number}") for number in range(6)))
    assert [outcome.stdout.text.strip() for outcome in outcomes] == [*map(str, range(6))]


async def test_a_connection_that_breaks(far: Bench) -> None:
    assert (await far.sh("echo one")).stdout.data == b"one\n"
    running = asyncio.create_task(far.sh("sleep 3"))
    await asyncio.sleep(1)
    [ssh] = ssh_of(os.getpid())
    os.kill(ssh, signal.SIGKILL)
    with pytest.raises(EngineUnavailable):
        await running
    assert (await far.sh("echo two")).stdout.data == b"two\n"


def test_nobody_stays_when_we_are_killed(address: str) -> None:
    program = f"""
import asyncio, sys
from coderunner.engines.docker import DockerEngine
from coderunner.settings import DockerSettings

async def main():
    engine = DockerEngine(DockerSettings(host={address!r}))
    await engine.capabilities()
    print("ready", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"ready\n"
        [ssh] = ssh_of(caller.pid)
        end = os.pidfd_open(ssh)
        caller.kill()
    try:
        gone, _, _ = select.select([end], [], [], 30)
        assert gone
    finally:
        os.close(end)


@pytest.mark.parametrize(
    ("user", "host", "said"),
    [
        ("nobody-here", "{sshd}", "Permission denied"),
        (ME, "127.0.0.1:1", "refused"),
        (ME, "127.0.0.1:port", "names no host"),
    ],
)
async def test_nobody_lets_us_in(
    sshd: str, workspace: Workspace, user: str, host: str, said: str
) -> None:
    settings = DockerSettings(host=f"ssh://{user}@{host.format(sshd=sshd)}")
    with pytest.raises(EngineUnavailable, match=said) as caught:
        await Bench(DockerEngine(settings), workspace).sh("true")
    assert "ssh" in caught.value.hint
    assert tunnels() == []


async def test_no_daemon_there(sshd: str, workspace: Workspace) -> None:
    engine = DockerEngine(DockerSettings(host=f"ssh://{ME}@{sshd}/nonexistent/docker.sock"))
    with pytest.raises(EngineUnavailable, match=r"cannot reach Docker|does not answer"):
        await Bench(engine, workspace).sh("true")
    assert tunnels() == []
