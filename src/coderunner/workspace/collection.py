"""Reading back what a hostile program left in its directory.

Nothing in there can be trusted to be what it looks like. Only regular files are opened, relative
to the fd of their directory, without following symlinks and without blocking; what was opened is
looked at again. Depth, number of entries, files and bytes are capped, so that neither a sparse
terabyte nor ten million names cost anything. What is left out is named, with the reason.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field

from coderunner.model import MIB, File
from coderunner.workspace.names import decoded
from coderunner.workspace.patterns import Matcher

MAX_DEPTH = 32
MAX_ENTRIES = 100_000  # looked at, wanted or not
MAX_SKIPPED = 100  # named; the rest is only counted

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class CollectedFile(File):
    """A file that came out of a workspace. A name that is not UTF-8 has surrogate escapes."""

    executable: bool = False


def is_executable(file: File) -> bool:
    """What a caller brings is not; what a compiler made may be."""
    return isinstance(file, CollectedFile) and file.executable


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that matched, or a whole directory, and why it was left out."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Collection:
    """What was asked for and found, in the order of the names in each directory."""

    files: tuple[CollectedFile, ...]
    skipped: tuple[Skipped, ...] = ()  # the first of them
    skipped_count: int = 0


def collect(
    dir_fd: int, patterns: Iterable[str], *, max_files: int = 1000, max_bytes: int = 64 * MIB
) -> Collection:
    """The files below `dir_fd` whose relative path matches one of the patterns.

    `*`, `?` and `[…]` stay within one part of a path, `**` stands for any number of directories:
    `program`, `*.class` (only at the top), `**/*.class`, `build/**`.
    """
    walk = _Walk(max_files, max_bytes)
    walk.directory(dir_fd, "", Matcher(patterns), depth=0)
    return Collection(tuple(walk.files), tuple(walk.skipped), walk.skipped_count)


@dataclass(slots=True)
class _Walk:
    files_left: int
    bytes_left: int
    entries_left: int = MAX_ENTRIES
    files: list[CollectedFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    skipped_count: int = 0

    def directory(self, fd: int, prefix: str, matcher: Matcher, depth: int) -> None:
        """Recurses at most MAX_DEPTH times, and holds as many fds."""
        for raw in self._names(fd, prefix):
            name = prefix + decoded(raw)
            inner = matcher.enter(decoded(raw))
            if not (inner.matched or inner.open):
                continue
            try:
                mode = os.stat(raw, dir_fd=fd, follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    if inner.open:
                        self._subdirectory(fd, raw, name, inner, depth + 1)
                elif inner.matched:
                    self._file(fd, raw, name, mode)
                elif stat.S_ISLNK(mode):
                    self.skip(name, "a symbolic link")
            except OSError as error:
                self.skip(name, (error.strerror or str(error)).lower())

    def skip(self, name: str, reason: str) -> None:
        self.skipped_count += 1
        if len(self.skipped) < MAX_SKIPPED:
            self.skipped.append(Skipped(name, reason))

    def _names(self, fd: int, prefix: str) -> list[bytes]:
        names: list[bytes] = []
        with os.scandir(fd) as entries:
            for entry in entries:
                if self.entries_left == 0:
                    self.skip(prefix or ".", f"more than {MAX_ENTRIES} entries")
                    break
                self.entries_left -= 1
                names.append(os.fsencode(entry.name))
        return sorted(names)

    def _subdirectory(
        self, parent: int, raw: bytes, name: str, matcher: Matcher, depth: int
    ) -> None:
        if depth > MAX_DEPTH:
            self.skip(name, f"deeper than {MAX_DEPTH} directories")
            return
        fd = os.open(raw, _DIRECTORY, dir_fd=parent)
        try:
            self.directory(fd, name + "/", matcher, depth)
        finally:
            os.close(fd)

    def _file(self, parent: int, raw: bytes, name: str, mode: int) -> None:
        if self.files_left <= 0:
            self.skip(name, "too many files")
            return
        if not stat.S_ISREG(mode):  # before opening: that alone can set a device off
            self.skip(name, _kind(mode))
            return
        fd = os.open(raw, _FILE, dir_fd=parent)
        try:
            self._opened_file(fd, name)
        finally:
            os.close(fd)

    def _opened_file(self, fd: int, name: str) -> None:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            self.skip(name, _kind(status.st_mode))
            return
        content = _read_at_most(fd, status.st_size, self.bytes_left)
        if content is None:
            self.skip(name, f"{status.st_size} bytes, and only {self.bytes_left} are left")
            return
        self.files_left -= 1
        self.bytes_left -= len(content)
        self.files.append(CollectedFile(name, content, bool(status.st_mode & 0o100)))


def _read_at_most(fd: int, size: int, limit: int) -> bytes | None:
    """The whole file, or None if it is longer than the limit (it may grow while we read)."""
    if size > limit:
        return None
    chunks: list[bytes] = []
    length = 0
    while chunk := os.read(fd, min(max(MIB, size), limit - length) + 1):
        chunks.append(chunk)  # as a rule the only one, and then it is not copied again
        length += len(chunk)
        if length > limit:
            return None
    return b"".join(chunks)


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "not a regular file")
