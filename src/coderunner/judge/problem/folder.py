"""A problem's directory, read with care: it may come from anybody.

Links are followed as far as they stay inside. What a link could make endless is bounded: how deep
directories lie, how many entries are looked at, how many bytes are read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from coderunner.errors import InvalidInput
from coderunner.model import MIB, File

_DEEPEST = 32
_MOST_ENTRIES = 200_000
_MOST_BYTES = 64 * MIB  # of one file that is read into memory
_MOST_BYTES_IN_ALL = 1024 * MIB
_MOST_BYTES_OF_A_TEST = 512 * MIB  # of its input, and of its answer
_LEFT_BY_TOOLS = frozenset({"__pycache__"})


class Folder:
    """One problem's directory. Paths of its entries are below `root`, links and all."""

    def __init__(self, path: Path) -> None:
        self.root = path.resolve()
        self._entries_left = _MOST_ENTRIES
        self._bytes_left = _MOST_BYTES_IN_ALL

    def __truediv__(self, name: str) -> Path:
        return self.root / name

    def name(self, path: Path) -> str:
        """What messages call it: its path from the problem's directory on."""
        return os.path.relpath(path, self.root.parent)

    def error(self, path: Path, what: str, *, hint: str = "") -> InvalidInput:
        return InvalidInput(f"{self.name(path)}: {what}", hint=hint)

    def has_file(self, path: Path) -> bool:
        return self._is_there(path) and self.real(path).is_file()

    def has_folder(self, path: Path) -> bool:
        return self._is_there(path) and self.real(path).is_dir()

    def _is_there(self, path: Path) -> bool:
        """What cannot be looked at is not passed over: nobody would miss it."""
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise self.error(path, f"cannot be read: {error.strerror}") from None
        return True

    def entries(self, path: Path) -> list[Path]:
        """What lies in a directory, by name; nothing if there is no such directory."""
        if not self.has_folder(path):
            return []
        self._refuse_endless(path)
        try:
            names = sorted(name for name in os.listdir(path) if not _is_hidden(name))
        except OSError as error:
            raise self.error(path, f"cannot be read: {error.strerror}") from None
        if unreadable := next((name for name in names if not name.isprintable()), None):
            raise self.error(path, f"has a file with a name that nobody can read: {unreadable!r}")
        self._entries_left -= len(names)
        if self._entries_left < 0:
            hint = "do links lead from one directory to another?"
            raise self.error(self.root, f"has more than {_MOST_ENTRIES} entries", hint=hint)
        return [path / name for name in names]

    def _refuse_endless(self, path: Path) -> None:
        """A link back up is seen where it is first followed: how often the kernel would follow it
        is not the same each time."""
        above = [parent for parent in path.parents if parent.is_relative_to(self.root)]
        if len(above) > _DEEPEST:
            raise self.error(path, "lies too deep")
        real = self.real(path)
        if real != path and real in map(self.real, above):
            hint = "its files would be there again and again: take it away"
            raise self.error(path, "is a link that leads back up", hint=hint)

    def real(self, path: Path) -> Path:
        """Where it really is: inside."""
        try:
            real = path.resolve(strict=True)
        except FileNotFoundError:
            what = "is a link that leads nowhere" if path.is_symlink() else "is missing"
            raise self.error(path, what) from None
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
            why = getattr(error, "strerror", None) or "its links go in circles"
            raise self.error(path, f"cannot be read: {why}") from None
        if not real.is_relative_to(self.root):
            hint = "put a copy in its place, so that the directory has all that it needs"
            raise self.error(path, "is a link that leads out of the directory", hint=hint)
        return real

    def regular(self, path: Path) -> Path:
        """The real place of a file that can be read: no directory, no pipe, no device."""
        real = self.real(path)
        if not stat.S_ISREG(real.stat().st_mode):
            raise self.error(path, "is no regular file")
        if not os.access(real, os.R_OK):
            raise self.error(path, "cannot be read: Permission denied")
        return real

    def data(self, path: Path) -> Path:
        """The real place of a test's file: it is read whole, when its turn has come."""
        real = self.regular(path)
        if real.stat().st_size > _MOST_BYTES_OF_A_TEST:
            raise self.error(path, f"is larger than {_MOST_BYTES_OF_A_TEST // MIB} MB")
        return real

    def read(self, path: Path, most: int = _MOST_BYTES) -> bytes:
        with open(self.regular(path), "rb") as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise self.error(path, f"is larger than {most // MIB} MB")
        self._bytes_left -= len(content)
        if self._bytes_left < 0:
            raise self.error(self.root, f"more than {_MOST_BYTES_IN_ALL // MIB} MB of programs")
        return content

    def text(self, path: Path, most: int = MIB) -> str:
        try:
            return self.read(path, most).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise self.error(path, "is not UTF-8") from None

    def files(self, path: Path) -> tuple[File, ...]:
        """All files below a directory, by their names in there; or the one file that it is."""
        if self.has_folder(path):
            return tuple(self._below(path, ""))
        return (File(path.name, self.read(path)),)

    def _below(self, path: Path, prefix: str) -> Iterator[File]:
        for entry in self.entries(path):
            name = prefix + entry.name
            if self.has_folder(entry):
                yield from self._below(entry, f"{name}/")
            else:
                yield File(name, self.read(entry))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name in _LEFT_BY_TOOLS
