"""What a warden is told: see `warden/warden.h` and `warden/order.c` for the other side."""

from __future__ import annotations

import json
import os
import stat
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from coderunner.errors import StartFailed
from coderunner.model import MIB, Job
from coderunner.workspace.bundle import LENGTH, Bundle

TOKEN_SIZE = 32
HEAD = struct.Struct("<IIQ")  # of an entry: length of its name, mode, size
_NUMBERS = struct.Struct("<16Q")
_DIRECTORY_MODE = 0o755
_BLOCK = 4096


class Files:
    """The files that a job brings, as they are sent: parents before what is in them."""

    def __init__(self, workspace: Path | Bundle) -> None:
        found = _bundled(workspace) if isinstance(workspace, Bundle) else _walked(workspace)
        self.parts: list[bytes] = []
        self.count = 0
        self.bytes_used = 0  # as a file system counts them
        for name, mode, content in found:
            self.parts += [HEAD.pack(len(name), mode, len(content)), name, content]
            self.count += 1
            self.bytes_used += -(-len(content) // _BLOCK) * _BLOCK


def order(job: Job, env: Mapping[str, str], token: bytes, files: Files, *, stay: bool) -> bytes:
    """All that comes before the frames. With `stay`, another one may follow."""
    limits = job.limits
    words = [*job.argv, *(f"{name}={value}" for name, value in env.items()), job.directory]
    if any("\0" in word for word in words):
        raise StartFailed("an argument or environment variable contains a NUL character")
    text = b"".join(os.fsencode(word) + b"\0" for word in words)
    numbers = _NUMBERS.pack(
        limits.wall_ms,
        limits.cpu_ms or 0,
        limits.memory_mb * 1024,
        limits.processes,
        limits.disk_mb * MIB,
        limits.open_files,
        limits.stack_mb * MIB,
        (limits.address_space_mb or 0) * MIB,
        job.collect,
        stay,
        len(job.argv),
        len(env),
        len(text),
        files.count,
        sum(map(len, files.parts)),
        files.bytes_used // 1024,
    )
    return b"".join((numbers, token, text, *files.parts))


Entry = tuple[bytes, int, bytes]


def _bundled(bundle: Bundle) -> Iterator[Entry]:
    length = int(os.pread(bundle.fd, LENGTH, 0), 16)
    offset = LENGTH + length
    made = {b""}
    for name, mode, size in json.loads(os.pread(bundle.fd, length, LENGTH)):
        path = os.fsencode(name)
        yield from _parents(path, made)
        yield path, stat.S_IFREG | mode, _read(bundle.fd, offset, size)
        offset += size


def _parents(path: bytes, made: set[bytes]) -> Iterator[Entry]:
    parent = os.path.dirname(path)
    if parent in made:
        return
    yield from _parents(parent, made)
    made.add(parent)
    yield parent, stat.S_IFDIR | _DIRECTORY_MODE, b""


def _read(fd: int, offset: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.pread(fd, size, offset)
        if not part:
            raise OSError(5, "the bundle is shorter than its table says")
        parts.append(part)
        size, offset = size - len(part), offset + len(part)
    return b"".join(parts)


def _walked(directory: Path) -> Iterator[Entry]:
    """A directory of the caller's own: nobody plays tricks in there."""
    top = os.fsencode(directory)
    for place, folders, names in os.walk(top):
        inner = os.path.relpath(place, top)
        for name in (*folders, *names):
            path = os.path.normpath(os.path.join(inner, name))
            whole = os.path.join(place, name)
            status = os.lstat(whole)
            if stat.S_ISLNK(status.st_mode):
                yield path, stat.S_IFLNK, os.readlink(whole)
            elif stat.S_ISDIR(status.st_mode):
                yield path, stat.S_IFDIR | _DIRECTORY_MODE, b""
            elif stat.S_ISREG(status.st_mode):
                with open(whole, "rb") as file:
                    yield path, stat.S_IFREG | stat.S_IMODE(status.st_mode), file.read()
