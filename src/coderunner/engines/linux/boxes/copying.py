"""Copying a caller's workspace into a box's tmpfs."""

from __future__ import annotations

import os

_CHUNK = 1 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def copy_tree(source: int, target: int, uid: int) -> None:
    """Copy directories and regular files between two directory fds, and give them to `uid`.
    What the caller put there is neither deep nor strange; anything strange is left out."""
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                os.mkdir(entry.name, 0o755, dir_fd=target)
                inner = os.open(entry.name, _DIRECTORY, dir_fd=source)
                outer = os.open(entry.name, _DIRECTORY, dir_fd=target)
                try:
                    os.fchown(outer, uid, uid)
                    copy_tree(inner, outer, uid)
                finally:
                    os.close(inner)
                    os.close(outer)
            elif entry.is_file(follow_symlinks=False):
                _copy_file(source, target, entry.name, uid)


def _copy_file(source: int, target: int, name: str, uid: int) -> None:
    inner = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=source)
    try:
        mode = os.fstat(inner).st_mode & 0o755
        outer = os.open(name, _NEW_FILE, mode, dir_fd=target)
        try:
            while os.sendfile(outer, inner, None, _CHUNK):
                pass
            os.fchown(outer, uid, uid)
        finally:
            os.close(outer)
    finally:
        os.close(inner)
