"""Attacks on the embedded engine in particular: on how its boxes are made and kept."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from coderunner.execution import execute
from coderunner.model import Job, Limits, Mount, Outcome
from coderunner.workspace import Workspace
from tests.hostile.arena import Arena
from tests.hostile.conftest import ON_LINUX
from tests.hostile.surroundings import unharmed

pytestmark = [pytest.mark.hostile, ON_LINUX]


@pytest.fixture(autouse=True)
def _linux_engine(arena: Arena) -> None:
    assert arena.runner.engine.name == "linux"


async def shell(arena: Arena, script: str, *mounts: Mount) -> Outcome:
    """A script in a box that shows more than others do."""
    await arena.check_alive()
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    with Workspace() as workspace, unharmed():
        argv = ("/bin/bash", "-c", script)
        job = Job(argv, workspace.path, env, mounts, Limits(wall_ms=20_000))
        return await execute(arena.runner.engine, job)


@pytest.fixture
def shown() -> Iterator[Path]:
    """A directory that everybody may enter, to be shown to a box."""
    with tempfile.TemporaryDirectory(prefix="shown-", dir="/var/tmp") as place:
        os.chmod(place, 0o777)
        yield Path(place)


async def test_nothing_of_the_setup_is_left_in_sight(arena: Arena) -> None:
    script = """
ls -A /box /host-proc /staged 2>/dev/null | grep -v :
cut -d' ' -f5 /proc/self/mountinfo | sort | uniq -d
ls -l /proc/self/fd | grep -v pipe: | grep -c -e socket -e anon_inode -e memfd
ls /dev | grep -v -x -e fd -e full -e null -e random -e shm -e std.* -e urandom -e zero
for place in /workspace/.. /tmp/.. /dev/shm/../..; do [ $place -ef / ] || echo $place; done
"""
    outcome = await shell(arena, script)
    assert outcome.stdout.text.split() == ["0"], outcome.stderr.text


async def test_every_mount_is_what_it_must_be(arena: Arena, shown: Path) -> None:
    """Read-only but for the box's own, no setuid anywhere, no devices but those we put there."""
    mounts = Mount(shown, "/shown"), Mount(shown, "/scratch", scratch=True)
    outcome = await shell(arena, "cut -d' ' -f5,6 /proc/self/mountinfo", *mounts)
    options = dict(line.split() for line in outcome.stdout.text.splitlines())
    own = {"/tmp", "/dev/shm", "/workspace", "/proc", "/scratch"}
    assert options.keys() >= {*own, "/", "/usr", "/shown", "/dev/null"}
    for place, words in options.items():
        flags = words.split(",")
        assert "nosuid" in flags, place
        assert ("rw" in flags) == (place in own), place
        assert "nodev" in flags or place == "/" or place.startswith("/dev/"), place


async def test_what_is_shown_cannot_be_changed(arena: Arena, shown: Path) -> None:
    """Not even by its owner, who runs the box where there is no root."""
    (shown / "file").write_text("old")
    (shown / "file").chmod(0o666)
    script = """
for try in 'echo x > file' 'echo x >> file' 'chmod 777 file' 'touch file' 'rm -f file' \\
        'mv file y' 'ln file y' 'touch new' 'mkdir new' 'ln -s / new' 'chmod 700 .' \\
        'truncate -s 0 file' 'exec 3<file; echo x > /proc/self/fd/3' 'ln /shown/file /tmp/y' \\
        'ln -f /shown/file /workspace'
do
    (cd /shown; eval "$try") 2>/dev/null && echo "$try"
done
cat file /shown/file 2>/dev/null
"""
    outcome = await shell(arena, script, Mount(shown, "/shown"))
    assert outcome.stdout.text == "old"
    assert [path.name for path in shown.iterdir()] == ["file"]
    assert (shown / "file").stat().st_mode & 0o777 == 0o666


async def test_a_socket_in_a_shown_directory_is_shown_too(arena: Arena, shown: Path) -> None:
    """A read-only mount does not keep anybody from connecting, and the kernel has nothing that
    would: SECURITY.md tells those who show directories. Should this fail, it need not any more."""
    path = shown / "service"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        server.setblocking(False)
        path.chmod(0o777)
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(path))
            server.accept()[0].close()
        code = "import socket; socket.socket(1).connect('/shown/service'); print('connected')"
        outcome = await shell(arena, f'/usr/bin/python3 -c "{code}"', Mount(shown, "/shown"))
        assert outcome.stdout.text == "connected\n"


async def test_a_pipe_in_a_shown_directory(arena: Arena, shown: Path) -> None:
    os.mkfifo(shown / "fifo")
    (shown / "fifo").chmod(0o666)
    reader = os.open(shown / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    try:
        outcome = await shell(arena, "echo hello > /shown/fifo", Mount(shown, "/shown"))
        assert outcome.exit_code != 0
        assert "ermission denied" in outcome.stderr.text
        assert os.read(reader, 10) == b""
    finally:
        os.close(reader)


async def test_a_scratch_directory_shows_nobody_elses_files(arena: Arena, shown: Path) -> None:
    """Marks of the overlay file system are only read from layers that nobody wrote to."""
    (shown / "public").write_text("public")
    script = """
cd /scratch || exit
for mark in trusted user; do
    for name in redirect opaque metacopy origin; do
        python3 -c "import os; os.setxattr('public', '$mark.overlay.$name', b'/etc/passwd')" \\
            2>/dev/null && [ "$(cat public)" != public ] && echo "$mark.overlay.$name"
    done
done
mknod removed c 0 0
mkdir d && mv d e && ls -A e
cat public
"""
    mount = Mount(shown, "/scratch", scratch=True)
    for _ in range(2):
        assert (await shell(arena, script, mount)).stdout.text == "public"
    assert [path.name for path in shown.iterdir()] == ["public"]
