"""A private directory for the files of one program."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from coderunner.errors import InvalidProgram
from coderunner.model import File
from coderunner.workspace.collection import is_executable
from coderunner.workspace.names import check_layout, encoded, split
from coderunner.workspace.root import process_root
from coderunner.workspace.tree import remove_tree

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Workspace:
    """An empty directory of mode 0700 that is gone after `with`, `remove`, or when the process
    ends; if that is killed, when the next one starts."""

    def __init__(self) -> None:
        self.path: Path = process_root() / secrets.token_hex(8)
        self.path.mkdir(mode=0o700)

    def add(self, files: Iterable[File], *, mode: int = 0o644) -> None:
        """Write files that are not there yet. Directories in their names are made as needed; a
        collected file that was executable stays so."""
        files = tuple(files)
        check_layout(files)
        top = os.open(self.path, _DIRECTORY)
        try:
            for file in files:
                _add(top, file, 0o755 if is_executable(file) else mode)
        finally:
            os.close(top)

    def remove(self) -> None:
        """Safe to call twice."""
        remove_tree(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def _add(top: int, file: File, mode: int) -> None:
    *directories, name = map(encoded, split(file.name))
    try:
        parent = _open_parent(top, directories)
        try:
            fd = os.open(name, _NEW_FILE, mode, dir_fd=parent)
        finally:
            os.close(parent)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.ELOOP):
            raise InvalidProgram(f"{file.name!r} is in the way of another file") from error
        raise
    try:
        os.fchmod(fd, mode)  # exactly this, whatever the caller's umask is
        write_all(fd, file.content)
    finally:
        os.close(fd)


def _open_parent(top: int, directories: list[bytes]) -> int:
    fd = os.dup(top)
    for name in directories:
        try:
            child = _make_directory(fd, name)
        finally:
            os.close(fd)
        fd = child
    return fd


def _make_directory(parent: int, name: bytes) -> int:
    """Open a directory, made with mode 0755 if it is not there."""
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
    except FileExistsError:
        return os.open(name, _DIRECTORY, dir_fd=parent)
    fd = os.open(name, _DIRECTORY, dir_fd=parent)
    os.fchmod(fd, 0o755)
    return fd


def write_all(fd: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest) :]
