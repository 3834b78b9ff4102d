"""A directory of entries, bounded; the least recently used go first.

    <cache>/compiled/<key>      one entry; its mtime is when it was last used
    <cache>/compiled/.new-…     one that is being written

Safe with any number of threads and processes: an entry appears at once and whole (rename), and who
reads one that another removes has it open already. Whatever is wrong in here, the worst that
happens is that a program is compiled again: nothing raises. Where the directory cannot be ours
alone, nothing is kept.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from coderunner.compile_cache.entry import Compiled, pack, unpack
from coderunner.kept import open_private

MOST_ENTRIES = 4000
_STALE_AFTER_S = 3600  # what somebody began to write and never finished
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KEY = re.compile(r"[0-9a-f]{64}")
_NEW = ".new-"


class CompileCache:
    def __init__(self, directory: Path, max_bytes: int, *, max_entries: int = MOST_ENTRIES) -> None:
        self._directory = directory
        self._max_bytes = max_bytes
        self._max_entries = max_entries

    @property
    def enabled(self) -> bool:
        return self._max_bytes > 0

    def get(self, key: str) -> Compiled | None:
        """What was kept under this key. What should not be there is removed."""
        found = None
        with contextlib.suppress(OSError), self._opened() as folder:
            try:
                found = unpack(key, _read_own(folder, key, self._max_bytes))
            except FileNotFoundError:
                return None
            except (OSError, ValueError, LookupError, TypeError):
                found = None
            if found is None:
                os.unlink(key, dir_fd=folder)
            else:
                os.utime(key, dir_fd=folder, follow_symlinks=False)
        return found

    def put(self, key: str, compiled: Compiled) -> None:
        """Keep it, unless it is larger than an eighth of all: it would push out too much."""
        if sum(len(file.content) for file in compiled.files) > self._max_bytes // 8:
            return
        data = pack(key, compiled)
        with contextlib.suppress(OSError), self._opened() as folder:
            _write_new(folder, key, data)
            self._evict(folder)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """The directory, looked at anew each time: somebody may have replaced it meanwhile."""
        folder = open_private(self._directory)
        try:
            yield folder
        finally:
            os.close(folder)

    def _evict(self, folder: int) -> None:
        """Remove the oldest until the rest is within bounds."""
        entries = sorted(_entries(folder), reverse=True)  # the latest use first
        total = 0
        for number, (_, size, name) in enumerate(entries, start=1):
            total += size
            if total > self._max_bytes or number > self._max_entries:
                with contextlib.suppress(FileNotFoundError):  # another process had the same idea
                    os.unlink(name, dir_fd=folder)


def _read_own(folder: int, name: str, most: int) -> bytes:
    """An entry's bytes, if it is a plain file that nobody but us could have written."""
    fd = os.open(name, _READ, dir_fd=folder)
    try:
        status = os.fstat(fd)
        private = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == 0o600
        if not stat.S_ISREG(status.st_mode) or not private or status.st_nlink != 1:
            raise PermissionError(f"{name} is not ours")
        with open(fd, "rb", closefd=False) as stream:
            return stream.read(most)
    finally:
        os.close(fd)


def _write_new(folder: int, name: str, data: bytes) -> None:
    unfinished = f"{_NEW}{secrets.token_hex(8)}"
    try:
        with open(os.open(unfinished, _WRITE, 0o600, dir_fd=folder), "wb") as stream:
            os.fchmod(stream.fileno(), 0o600)  # whatever the umask is
            stream.write(data)
        os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished, dir_fd=folder)
        raise


def _entries(folder: int) -> Iterator[tuple[int, int, str]]:
    """When each was last used, its size and name. What was never finished is removed."""
    long_ago = time.time_ns() - _STALE_AFTER_S * 10**9
    with os.scandir(folder) as found:
        for entry in found:
            with contextlib.suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if _KEY.fullmatch(entry.name):
                    yield status.st_mtime_ns, status.st_size, entry.name
                elif entry.name.startswith(_NEW) and status.st_mtime_ns < long_ago:
                    os.unlink(entry.name, dir_fd=folder)
