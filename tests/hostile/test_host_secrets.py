"""What the caller knows, and a program must not: its environment, its files, its keys."""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import os
import platform
import secrets
import socket
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.arena import Arena

pytestmark = pytest.mark.hostile

# Prints all it can find out: its own surroundings, and the files it is told of.
SPY = r"""
import os, pathlib, sys

def show(path, most=None):
    try:
        print(path, path.read_bytes()[:most])
    except OSError as error:
        print(path, error.strerror)

print(dict(os.environ), sys.argv)
for process in pathlib.Path("/proc").iterdir():
    for name in ("environ", "cmdline", "status", "maps", "mountinfo", "cgroup"):
        show(process / name)
for name in ("/proc/keys", "/proc/key-users", "/proc/locks", "/proc/net/unix", *{paths}):
    show(pathlib.Path(name))
for top in ("/etc", "/tmp", "/var", "/dev/shm", "/workspace"):
    for folder, _, files in os.walk(top):
        print(folder)
        for name in files:
            path = pathlib.Path(folder, name)
            if not path.is_symlink() and path.is_file() and path.name != "main.py":
                show(path, 2000)  # an image has large ones
"""


async def spy(arena: Arena, *paths: str) -> str:
    result = await arena.text(SPY.replace("{paths}", repr(paths)))
    assert result.ok, result.stderr
    assert result.outcome.stdout.dropped == 0
    return result.stdout


@pytest.fixture
def secret_file() -> Iterator[Path]:
    """A file that every user of the machine can read."""
    with tempfile.TemporaryDirectory(prefix="secret-", dir="/var/tmp") as place:
        os.chmod(place, 0o755)
        path = Path(place, "file")
        path.write_text(secrets.token_hex(16))
        path.chmod(0o644)
        yield path


async def test_30_environment_and_files(
    arena: Arena, secret_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTILE_PASSWORD", in_environment := secrets.token_hex(16))
    child = await asyncio.create_subprocess_exec("env", stdout=subprocess.PIPE)
    assert in_environment.encode() in (await child.communicate())[0]  # control
    paths = [str(secret_file), f"/proc/{os.getpid()}/environ", str(Path.home() / ".ssh/id_rsa")]
    seen = await spy(arena, *paths)
    assert f"{secret_file} No such file or directory" in seen
    assert secret_file.read_text() not in seen
    assert in_environment not in seen


async def test_30_locks_and_sockets_of_the_host(arena: Arena, secret_file: Path) -> None:
    """Tables of /proc that list what all processes have."""
    with secret_file.open() as locked, socket.socket(socket.AF_UNIX) as server:
        fcntl.flock(locked, fcntl.LOCK_SH)
        server.bind(name := f"\0{secrets.token_hex(16)}")
        inode = os.fstat(locked.fileno()).st_ino
        assert f":{inode} " in Path("/proc/locks").read_text()  # control
        assert name[1:] in Path("/proc/net/unix").read_text()
        seen = await spy(arena)
    assert f":{inode} " not in seen
    assert name[1:] not in seen


async def test_30_keys_of_the_user(arena: Arena) -> None:
    """The kernel keeps keys (of encrypted disks, of Kerberos) by user. Their names tell enough."""
    name = f"hostile-{secrets.token_hex(8)}"
    key = add_key(name)
    try:
        assert name in Path("/proc/keys").read_text()  # control
        seen = await spy(arena)
    finally:
        revoke_key(key)
    assert name not in seen


_LIBC = ctypes.CDLL(None, use_errno=True)
_ADD_KEY, _KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
_PROCESS_KEYRING, _KEYCTL_REVOKE = -2, 3


def add_key(name: str) -> int:
    """A key of this user's, which goes away with this process."""
    key = _LIBC.syscall(_ADD_KEY, b"user", name.encode(), b"payload", 7, _PROCESS_KEYRING)
    assert key > 0, os.strerror(ctypes.get_errno())
    return int(key)


def revoke_key(key: int) -> None:
    _LIBC.syscall(_KEYCTL, _KEYCTL_REVOKE, key)


async def test_30_locks_of_open_files(arena: Arena, tmp_path: Path) -> None:
    """They belong to no process, so the kernel shows them in every pid namespace. In a container of
    this kernel nobody can hide them (docs/docker.md): the warden needs the table."""
    f_ofd_setlk = 37
    whole_file = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    with tempfile.TemporaryFile(dir=tmp_path) as file:
        fcntl.fcntl(file, f_ofd_setlk, whole_file)
        inode = f":{os.fstat(file.fileno()).st_ino} "
        assert inode in Path("/proc/locks").read_text(), "the control does not see it"
        result = await arena.text("print(open('/proc/locks').read())")
    if not arena.in_containers:
        assert result.stdout == "\n"
    assert (inode in result.stdout) == (arena.in_containers and not arena.on_gvisor)
