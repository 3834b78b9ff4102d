"""The directory that all workspaces of this process are in.

    <temp>/coderunner-<uid>-<random>/    0700, locked (flock) for as long as this process lives
        <workspace>/  <workspace>/ …

The lock dies with the process, also with SIGKILL. So whoever starts next can tell the roots of
the living from those of the dead, and removes the latter.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import secrets
import tempfile
import threading
from pathlib import Path

from coderunner.errors import EngineUnavailable
from coderunner.forks import dropped_in_children
from coderunner.workspace.tree import remove_tree

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Root:
    """A locked directory. (systemd's cleaner of old temp files honours the lock, too.)"""

    def __init__(self, path: Path, lock_fd: int) -> None:
        self.path = path
        self.pid = os.getpid()
        self._lock_fd = lock_fd
        dropped_in_children(self)

    def remove(self) -> None:
        """For a normal end of the process. A forked child leaves its parent's root alone."""
        if self.pid == os.getpid():
            with contextlib.suppress(OSError):
                remove_tree(self.path)
        self.drop()

    def drop(self) -> None:
        """The lock holds for as long as anybody has a copy of the descriptor."""
        fd, self._lock_fd = self._lock_fd, -1
        if fd >= 0:
            os.close(fd)


_root: Root | None = None
_guard = threading.Lock()


def process_root() -> Path:
    """This process's root; made, and the dead ones' swept up, when it is first asked for."""
    global _root
    with _guard:
        if _root is None or _root.pid != os.getpid() or not _root.path.is_dir():
            if _root is not None:
                atexit.unregister(_root.remove)
                _root.remove()
            temp = Path(tempfile.gettempdir())
            sweep(temp)
            _root = make_root(temp)
            atexit.register(_root.remove)
        return _root.path


def release_root() -> None:
    """Remove the root if nothing is in it; the next workspace makes a new one."""
    global _root
    with _guard:
        if _root is None or _root.pid != os.getpid():
            return
        try:
            os.rmdir(_root.path)
        except OSError:
            return
        atexit.unregister(_root.remove)
        _root.remove()
        _root = None


def make_root(temp: Path) -> Root:
    for _ in range(100):
        path = temp / f"{_prefix()}{secrets.token_hex(8)}"
        try:
            path.mkdir(mode=0o700)
        except OSError as error:
            raise EngineUnavailable(
                f"cannot make a directory in {temp}: {error.strerror}",
                hint="free some space there, or set TMPDIR to a directory that can be written",
            ) from error
        # Another process that starts right now may take it for a dead one's before it is locked.
        fd = _lock(path)
        if fd is not None:
            return Root(path, fd)
    raise EngineUnavailable(f"could not lock a directory in {temp}")


def sweep(temp: Path) -> None:
    """Remove the roots of this user's processes that are no more."""
    try:
        names = [name for name in os.listdir(temp) if name.startswith(_prefix())]
    except OSError:
        return
    for name in names:
        fd = _lock(temp / name)
        if fd is not None:
            # What cannot be removed is no reason not to start.
            with contextlib.suppress(OSError):
                remove_tree(temp / name)
            os.close(fd)


def _lock(path: Path) -> int | None:
    """Open and lock a root: None if it is locked, gone, or not a directory of ours."""
    try:
        fd = os.open(path, _DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held the lock until now may have removed it, so see that it is still there.
        status = os.fstat(fd)
        if status.st_uid == os.geteuid() and os.path.samestat(status, os.lstat(path)):
            return fd
    except OSError:
        pass
    os.close(fd)
    return None


def _prefix() -> str:
    return f"coderunner-{os.geteuid()}-"
