"""Removing a directory tree that a hostile program wrote.

`shutil.rmtree` holds one fd and one stack frame per level and gives up at directories without
permission bits. Here every directory is dissolved at the top: its files are unlinked, its
subdirectories renamed into the top directory, and it is empty. That takes three fds and one path
component at any depth, and never follows a symlink.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: Path | str) -> None:
    """Remove a directory and everything in it; one that is not there is fine."""
    try:
        top = _open_directory(os.fspath(path))
    except FileNotFoundError:
        return
    try:
        _empty(top)
    finally:
        os.close(top)
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(path)


def _empty(top: int) -> None:
    prefix = secrets.token_hex(8)
    names = (f"{prefix}-{number}" for number in itertools.count())
    found = True
    while found:  # what is moved up during a pass may show only in the next
        found = False
        with os.scandir(top) as entries:
            for entry in entries:
                found = True
                if not entry.is_dir(follow_symlinks=False) or not _dissolve(top, entry.name, names):
                    _unlink(entry.name, top)


def _dissolve(top: int, name: str, names: Iterator[str]) -> bool:
    """Empty and remove one directory in `top`. False if it turns out not to be a directory."""
    try:
        fd = _open_directory(name, top)
    except NotADirectoryError:
        return False
    except FileNotFoundError:
        return True
    try:
        with os.scandir(fd) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _move_up(entry.name, fd, next(names), top)
                else:
                    _unlink(entry.name, fd)
    finally:
        os.close(fd)
    # Not empty: entries that readdir passed over while others vanished. The next pass gets them.
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=top)
    return True


def _move_up(name: str, parent: int, new_name: str, top: int) -> None:
    try:
        os.rename(name, new_name, src_dir_fd=parent, dst_dir_fd=top)
    except FileNotFoundError:
        return
    except PermissionError:
        # Moving a directory rewrites its "..", for which it must itself be writable.
        _make_accessible(name, parent)
        os.rename(name, new_name, src_dir_fd=parent, dst_dir_fd=top)


def _unlink(name: str, parent: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=parent)


def _open_directory(name: str, parent: int | None = None) -> int:
    """Open a directory of ours such that its entries can be listed and removed."""
    try:
        fd = os.open(name, _DIRECTORY, dir_fd=parent)
    except PermissionError:
        _make_accessible(name, parent)
        fd = os.open(name, _DIRECTORY, dir_fd=parent)
    with contextlib.suppress(PermissionError):  # somebody else's: removing may still work
        os.fchmod(fd, 0o700)
    return fd


def _make_accessible(name: str, parent: int | None) -> None:
    """chmod that cannot be led astray by a symlink, for a directory that cannot be opened."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{fd}", 0o700)
    finally:
        os.close(fd)
