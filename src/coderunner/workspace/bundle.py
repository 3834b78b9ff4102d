"""The files of a program in memory: made once, and copied from there into every run.

    0000002a[["main.py", 420, 15]]print("hello")\n

First the length of the table, in hex, then the table (name, mode, size), then the contents. It lies
in a file without a name (memfd), so that an engine's own process can be handed a descriptor.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from coderunner.forks import dropped_in_children
from coderunner.model import File
from coderunner.workspace.collection import is_executable
from coderunner.workspace.directory import write_all
from coderunner.workspace.names import check_layout, encoded, split

LENGTH = 8  # hex digits


class Bundle:
    """Close it, or use it in a `with`."""

    def __init__(self, files: Iterable[File]) -> None:
        files = tuple(files)
        check_layout(files)
        table = [[_name(file), _mode(file), len(file.content)] for file in files]
        header = json.dumps(table).encode()
        self.fd = os.memfd_create("coderunner-files", os.MFD_CLOEXEC)
        dropped_in_children(self)
        try:
            for part in (b"%08x" % len(header), header, *(file.content for file in files)):
                write_all(self.fd, part)
        except BaseException:
            self.close()
            raise

    def unpack(self, directory: Path) -> None:
        """Write the files into a directory that is there and is empty."""
        from coderunner.engines.linux.boxes.unpacking import unpack  # which needs a workspace

        target = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            unpack(self.fd, target, os.geteuid())
        finally:
            os.close(target)

    def close(self) -> None:
        """Safe to call twice."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    drop = close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def copy_in(workspace: Path | Bundle, directory: Path) -> None:
    """For an engine that needs the files of a job in a directory of its own."""
    if isinstance(workspace, Bundle):
        directory.mkdir(exist_ok=True)
        workspace.unpack(directory)
    else:
        shutil.copytree(workspace, directory, symlinks=True, dirs_exist_ok=True)


def _name(file: File) -> str:
    return os.fsdecode(b"/".join(map(encoded, split(file.name))))


def _mode(file: File) -> int:
    return 0o755 if is_executable(file) else 0o644
