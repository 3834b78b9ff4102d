"""The files that a job has left, as its warden sends them: kept as they come, unpacked at the end.

Only what is a directory or a regular file is made, each by its own name in a directory that we
have opened, so that no name leads anywhere else.
"""

from __future__ import annotations

import os
import stat
import tempfile
from typing import IO

from coderunner.engines.docker.order import HEAD
from coderunner.errors import EngineUnavailable
from coderunner.workspace import Workspace

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_IN_MEMORY = 1 << 20
_PART = 1 << 20


class Returned:
    """`most` is how many bytes may come: the most that the job could write, and the names."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._sent: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self._workspace: Workspace | None = None
        self._fd = -1

    def keep(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left >= 0:
            self._sent.write(data)

    def unpack(self) -> None:
        """Make them, in a workspace of their own. Blocking."""
        if self._left < 0:
            raise EngineUnavailable("a container sent back more files than it may have")
        self._workspace = Workspace()
        self._fd = os.open(self._workspace.path, _DIRECTORY)
        self._sent.seek(0)
        while (head := self._sent.read(HEAD.size)) and len(head) == HEAD.size:
            length, mode, size = HEAD.unpack(head)
            if not length:
                return
            self._make(self._sent.read(length), mode, size)
        raise EngineUnavailable("a container was gone before all its files had come")

    def fd(self) -> int:
        if self._fd < 0:
            raise ValueError("this job was not started with collect=True, or has not ended")
        return self._fd

    def close(self) -> None:
        self._sent.close()
        self.drop()
        workspace, self._workspace = self._workspace, None
        if workspace is not None:
            workspace.remove()

    def drop(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _make(self, name: bytes, mode: int, size: int) -> None:
        *folders, last = name.split(b"/")
        if any(part in (b"", b".", b"..") for part in (*folders, last)):
            raise EngineUnavailable(f"a container sent back a file of the name {name!r:.80}")
        parent = os.dup(self._fd)
        try:
            for folder in folders:
                child = os.open(folder, _DIRECTORY, dir_fd=parent)
                os.close(parent)
                parent = child
            if stat.S_ISDIR(mode):
                os.mkdir(last, 0o755, dir_fd=parent)
            else:
                self._write(parent, last, mode & 0o777, size)
        finally:
            os.close(parent)

    def _write(self, parent: int, name: bytes, mode: int, size: int) -> None:
        with open(os.open(name, _NEW_FILE, 0o600, dir_fd=parent), "wb") as file:
            while size:
                part = self._sent.read(min(size, _PART))
                if not part:
                    raise EngineUnavailable("a container was gone before all its files had come")
                file.write(part)
                size -= len(part)
            os.fchmod(file.fileno(), mode | 0o600)
