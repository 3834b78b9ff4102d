"""The tokens of callers elsewhere: those of the settings, and those of a file that `coderunner
token` writes.

The file has a line for each: its name, and a digest of the token, which nobody can turn back. A
service looks at it anew when it has changed, so that a new token needs no restart, and one that was
taken away is refused at once.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from coderunner.errors import InvalidInput, faults_of_the_machine

_NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)
_BYTES = 32


class Tokens:
    def __init__(self, given: Iterable[str], file: Path | None) -> None:
        # Names that no address is, and neither kind of token has of the other: who has the same
        # name is the same client, with the same sessions.
        self._given = {digest(token): f"token #{n}" for n, token in enumerate(given, 1)}
        self._file = file
        self._seen: tuple[int, ...] | None = None
        self._written: dict[str, str] = {}  # names, by digest

    def name_of(self, token: str) -> str | None:
        """Whose token this is; None if it is nobody's."""
        self._look()
        # By a digest of what was shown: how long a look-up takes tells nothing of the token.
        shown = digest(token)
        return self._given.get(shown) or self._written.get(shown)

    def _look(self) -> None:
        if self._file is None:
            return
        try:
            status = os.stat(self._file)
        except OSError:
            self._seen, self._written = None, {}
            return
        seen = (status.st_mtime_ns, status.st_size, status.st_ino)
        if seen != self._seen:
            self._seen, self._written = (
                seen,
                {d: f"token {name}" for name, d in read(self._file).items()},
            )


def digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def read(file: Path) -> dict[str, str]:
    """Digests, by name."""
    with faults_of_the_machine():
        try:
            lines = file.read_text().splitlines()
        except FileNotFoundError:
            return {}
    pairs = (line.split() for line in lines if line.strip() and not line.startswith("#"))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def add(file: Path, name: str) -> str:
    """A new token of this name. It is only known now: the file does not have it."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"a token cannot be called {name!r:.80}", hint="letters, digits, dots and dashes can"
        )
    known = read(file)
    if name in known:
        raise InvalidInput(
            f"there is a token called {name!r} already",
            hint=f"take another name, or take it away: coderunner token --revoke {name}",
        )
    token = secrets.token_urlsafe(_BYTES)
    _write(file, {**known, name: digest(token)})
    return token


def revoke(file: Path, name: str) -> None:
    known = read(file)
    if name not in known:
        raise InvalidInput(
            f"there is no token called {name!r:.80}", hint="coderunner token --list has them all"
        )
    del known[name]
    _write(file, known)


def _write(file: Path, known: dict[str, str]) -> None:
    """In one step: a service that reads meanwhile finds the old ones or the new ones."""
    new = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    with faults_of_the_machine():
        file.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "w") as out:
            out.writelines(f"{name} {found}\n" for name, found in known.items())
        new.replace(file)
