"""Remembers what probing a toolchain found, so that a second start need not ask again.

The file decides which host directories a sandbox shows, so it is only believed if it belongs to
us and nobody else may write to it. Whatever is wrong with it, the worst that happens is that the
tools are asked again: nothing here ever raises.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path

Signature = list[int]

_FORMAT = 1
_MOST_ENTRIES = 200
_MOST_BYTES = 4 * 1024 * 1024


def signature(path: str) -> Signature | None:
    """Changes when a file (or what a link leads to) is replaced. None: it is not there."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    return [info.st_mtime_ns, info.st_size]


def default_cache_file() -> Path | None:
    """`$XDG_CACHE_HOME/coderunner/toolchains.json`, or None for somebody without a home."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):
        home = os.path.expanduser("~")
        if not os.path.isabs(home):
            return None
        cache = os.path.join(home, ".cache")
    return Path(cache, "coderunner", "toolchains.json")


class Cache:
    """Answers by key, in a file of the user's. Without `enabled` it remembers nothing."""

    def __init__(self, file: Path | None = None, *, enabled: bool = True) -> None:
        self._file = (file or default_cache_file()) if enabled else None
        self._entries: dict[str, dict[str, object]] | None = None

    def get(self, key: str) -> dict[str, object] | None:
        if self._entries is None:
            self._entries = _read(self._file)
        return self._entries.get(_digest(key))

    def put(self, key: str, entry: dict[str, object]) -> None:
        """Add an entry to what is in the file now, since others may have written meanwhile."""
        entries = _read(self._file)
        entries.pop(_digest(key), None)
        entries[_digest(key)] = entry
        for old in list(entries)[:-_MOST_ENTRIES]:
            del entries[old]
        self._entries = entries
        if self._file is not None:
            with contextlib.suppress(OSError):
                _write(self._file, {"format": _FORMAT, "entries": entries})


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", errors="surrogateescape")).hexdigest()


def _read(file: Path | None) -> dict[str, dict[str, object]]:
    try:
        content = json.loads(_read_own(file)) if file else None
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        return {}
    entries = content.get("entries")
    if not isinstance(entries, dict):
        return {}
    return {key: entry for key, entry in entries.items() if isinstance(entry, dict)}


def _read_own(file: Path) -> bytes:
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as stream:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode) or not _is_ours(info):
            raise PermissionError(f"{file} is somebody else's")
        return stream.read(_MOST_BYTES)


def _is_ours(info: os.stat_result) -> bool:
    return info.st_uid == os.geteuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _write(file: Path, content: object) -> None:
    """Replace the file in one step. As root in somebody's home (sudo) we leave it alone."""
    existing = next(folder for folder in file.parents if folder.exists())
    if existing.stat().st_uid != os.geteuid():
        raise PermissionError(f"{existing} is somebody else's")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".toolchains-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(content, stream)
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
