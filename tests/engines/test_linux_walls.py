"""The embedded engine's walls, tried from the inside.

Each test runs a small hostile program in a real box. The full list of attacks has a suite of its
own, and so has the system-call filter; these are the ones without which nothing else matters.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from coderunner.execution import execute
from coderunner.model import EndedBy, File, Job, Mount
from tests.engines.bench import Bench
from tests.support import require_sandbox

pytestmark = pytest.mark.engines


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    require_sandbox()


async def test_who_am_i(linux: Bench) -> None:
    status = (await linux.sh("cat /proc/self/status")).stdout.text
    facts = dict(line.split(":\t") for line in status.splitlines() if ":\t" in line)
    for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(facts[capabilities], 16) == 0
    assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2")
    assert facts["Uid"].split() == facts["Gid"].split() == ["1000"] * 4


async def test_ordinary_sockets_work_inside(linux: Bench) -> None:
    source = """
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
server.accept()[0].send(b"hello")
print(client.recv(5).decode(), socket.socketpair()[0].family.name)
"""
    assert (await linux.python(source)).stdout.text == "hello AF_UNIX\n"


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def test_the_hosts_loopback_is_another(linux: Bench, listener: int) -> None:
    outcome = await linux.python(
        f"import socket; print(socket.socket().connect_ex(('127.0.0.1', {listener})))"
    )
    assert int(outcome.stdout.text) == errno.ECONNREFUSED


async def test_there_is_no_way_out(linux: Bench) -> None:
    source = """
import socket
for address in ("169.254.169.254", "10.0.0.1", "192.0.2.1"):
    print(socket.socket().connect_ex((address, 80)))
try:
    socket.getaddrinfo("example.com", 80)
except socket.gaierror:
    print("no name")
"""
    lines = (await linux.python(source)).stdout.text.split("\n")
    assert lines[:4] == [str(errno.ENETUNREACH)] * 3 + ["no name"]


async def test_abstract_sockets_of_the_host_are_out_of_reach(linux: Bench) -> None:
    name = f"\0coderunner-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        source = f"import socket; print(socket.socket(1).connect_ex({name!r}))"
        assert int((await linux.python(source)).stdout.text) == errno.ECONNREFUSED


async def test_host_files_are_not_there(linux: Bench, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    paths = [secret, "/etc/shadow", Path.home() / ".ssh", "/root/.bashrc", "/home", "/var/run",
             "/sys", "/run", "/boot", "/var/lib", linux.workspace.path]  # fmt: skip
    found = (await linux.sh("ls -d " + " ".join(map(str, paths)) + " 2>/dev/null")).stdout.text
    assert found == ""


@pytest.mark.parametrize("path", ["/usr/x", "/x", "/etc/passwd", "/dev/x", "/bin/sh", "/proc/x"])
async def test_nothing_of_the_root_can_be_written(linux: Bench, path: str) -> None:
    outcome = await linux.sh(f"echo x > {path}")
    assert outcome.exit_code != 0
    assert (await linux.sh(f"cat {path} 2>/dev/null | head -c 2")).stdout.data != b"x\n"


async def test_only_the_boxs_own_processes_are_visible(linux: Bench) -> None:
    outcome = await linux.python(
        "import os; print([p for p in os.listdir('/proc') if p.isdigit()])"
    )
    assert outcome.stdout.text == "['2']\n"


async def test_process_1_cannot_be_hurt_or_read(linux: Bench) -> None:
    source = """
import os, signal
for number in (1, 2, 9, 15, 19, 24):
    os.kill(1, number)
for name in ("fd", "environ", "mem", "root", "cmdline", "status"):
    print(os.path.exists(f"/proc/1/{name}"))
print("alive")
"""
    outcome = await linux.python(source)
    assert outcome.stdout.text.split() == ["False"] * 6 + ["alive"]
    assert outcome.ok


async def test_killing_everybody_kills_only_oneself(linux: Bench) -> None:
    outcome = await linux.sh("kill -9 -1; sleep 5")
    assert outcome.ended_by in (EndedBy.SIGNAL, EndedBy.EXIT)
    assert (await linux.sh("echo next")).stdout.data == b"next\n"


async def test_no_descriptors_are_inherited(linux: Bench) -> None:
    source = """
import os
def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
print([fd for fd in range(1024) if is_open(fd)])
"""
    assert (await linux.python(source)).stdout.text == "[0, 1, 2]\n"


async def test_mounts_tell_nothing_and_cannot_be_changed(linux: Bench) -> None:
    mounts = (await linux.sh("cut -d' ' -f2 /proc/mounts")).stdout.text.split()
    assert "/host-proc" not in mounts
    assert "/box" not in mounts
    assert mounts.count("/") == 1


async def test_disk_is_limited(linux: Bench) -> None:
    outcome = await linux.sh("head -c 20M /dev/zero > a; head -c 20M /dev/zero > /tmp/b", disk_mb=8)
    assert b"No space left" in outcome.stderr.data or b"File too large" in outcome.stderr.data
    sizes = await linux.sh("yes > a; yes > /tmp/b; du -sm . /tmp | cut -f1", disk_mb=8)
    assert sum(map(int, sizes.stdout.text.split())) <= 17


async def test_number_of_files_is_limited(linux: Bench) -> None:
    source = """
n = 0
try:
    while True:
        open(f"/tmp/{n}", "w").close()
        n += 1
except OSError as error:
    print(n, error.errno)
"""
    count, number = map(int, (await linux.python(source, files=500)).stdout.text.split())
    assert 490 <= count <= 520
    assert number == errno.ENOSPC


async def test_files_in_memory_count_as_memory(linux: Bench) -> None:
    outcome = await linux.sh(
        "head -c 200M /dev/zero > /dev/shm/a; sleep 1", memory_mb=64, disk_mb=300
    )
    assert outcome.ended_by is EndedBy.MEMORY


async def test_daemons_die_with_the_box(linux: Bench) -> None:
    marker = f"31{os.getpid()}"
    outcome = await linux.sh(f"setsid sh -c 'setsid sleep {marker} &' & sleep 0.2; echo ok")
    assert outcome.stdout.data == b"ok\n"
    assert marker not in all_command_lines()


def all_command_lines() -> str:
    lines = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            lines.append(Path("/proc", pid, "cmdline").read_text(errors="replace"))
        except OSError:
            continue
    return "\n".join(lines)


async def test_a_path_under_tmp_can_be_shown(linux: Bench, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("hello")
    tmp_path.chmod(0o755)  # the box's user is somebody else when we are root
    job = linux.job("/bin/sh", "-c", f"cat {tmp_path}/tool; echo x > {tmp_path}/new")
    mounts = (Mount(tmp_path, str(tmp_path)),)
    outcome = await execute(linux.engine, Job(job.argv, job.workspace, job.env, mounts))
    assert outcome.stdout.data == b"hello"
    assert outcome.exit_code != 0
    assert not (tmp_path / "new").exists()


async def test_a_scratch_mount_looks_writable_and_is_not(linux: Bench, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("old")
    (tmp_path / "cache").chmod(0o666)
    tmp_path.chmod(0o777)
    script = "cat /prepared/x/cache; echo new > /prepared/x/cache && cat /prepared/x/cache"
    mounts = (Mount(tmp_path, "/prepared/x", scratch=True),)
    job = linux.job("/bin/sh", "-c", script)
    for _ in range(2):
        outcome = await execute(linux.engine, Job(job.argv, job.workspace, job.env, mounts))
        assert outcome.stdout.data == b"oldnew\n"
    assert (tmp_path / "cache").read_text() == "old"


async def test_a_planted_link_in_the_workspace_is_not_followed(linux: Bench) -> None:
    linux.workspace.add([File("a", b"mine")])
    os.symlink("/etc/shadow", linux.workspace.path / "link")
    assert (await linux.sh("ls")).stdout.text == "a\n"
