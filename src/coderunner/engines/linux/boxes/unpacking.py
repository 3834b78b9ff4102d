"""Files out of a caller's bundle (see workspace/bundle.py) into a box's tmpfs."""

from __future__ import annotations

import json
import os

_LENGTH = 8
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def unpack(bundle: int, target: int, uid: int) -> None:
    """Write its files below a directory that nobody else can reach yet; give them to `uid`."""
    length = int(os.pread(bundle, _LENGTH, 0), 16)
    offset = _LENGTH + length
    made = {""}
    for name, mode, size in json.loads(os.pread(bundle, length, _LENGTH)):
        _make_parents(name, target, uid, made)
        fd = os.open(name, _NEW_FILE, 0o600, dir_fd=target)
        try:
            _copy(fd, bundle, offset, size)
            os.fchown(fd, uid, uid)
            os.fchmod(fd, mode)
        finally:
            os.close(fd)
        offset += size


def _make_parents(name: str, target: int, uid: int, made: set[str]) -> None:
    parent = os.path.dirname(name)
    if parent in made:
        return
    _make_parents(parent, target, uid, made)
    os.mkdir(parent, 0o755, dir_fd=target)
    os.chown(parent, uid, uid, dir_fd=target, follow_symlinks=False)
    os.chmod(parent, 0o755, dir_fd=target)  # noqa: S103 - exactly this, whatever the umask is
    made.add(parent)


def _copy(fd: int, bundle: int, offset: int, size: int) -> None:
    while size:
        sent = os.sendfile(fd, bundle, offset, size)
        if not sent:
            raise OSError(5, "the bundle is shorter than its table says")
        offset, size = offset + sent, size - sent
