"""Which of the host's directories a sandbox may see for a toolchain's sake.

Everything below /usr (and /bin, /lib…) is in every box. A toolchain that lives elsewhere
(`~/.pyenv/versions/3.11.7`, `~/.rustup/toolchains/…`, `/opt/jdk-21`) is shown read-only as a
whole, by its *prefix*: the directory that holds its `bin`. Some prefixes are no toolchain's own:

- `/`, `/opt`, `/home`, `/var` …, a home directory, or anything that contains one: never shown.
  Of a command in `~/bin` only that one file is seen, which is enough for a static binary.
- A prefix below a home that is only guessed from where the command lies (`~/project/bin/lua`), and
  that its probe does not name, is treated like `~/.local`.
- Of a command that lies in no `bin` at all, only the file itself is shown.
- `~/.local` and its like (a direct, hidden child of a home) hold a toolchain's libraries beside
  keys, histories and caches: of these only `lib`, `lib64`, `libexec` and `include` are shown
  (`pyvenv.cfg` too, for a `~/.venv`), and the command itself.
"""

from __future__ import annotations

import contextlib
import os
import pwd
from collections.abc import Iterable, Sequence

IN_EVERY_BOX = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_HOMES = ("/home", "/Users")  # directories of home directories
_OF_A_TOOLCHAIN = (
    "lib", "lib64", "libexec", "include", "conf", "jmods", "release", "pyvenv.cfg",
)  # fmt: skip
_BIN = ("bin", "sbin")


def to_show(command: str, prefixes: Sequence[str]) -> list[str]:
    """The files and directories that must be visible for `command` to work, given the prefixes
    it needs. The command's own place is always among them."""
    shown: list[str] = []
    for prefix in prefixes:
        shown += _parts_to_show(os.path.normpath(prefix))
    guess = prefix_of(command)
    if guess and any(is_inside(guess, home) for home in _homes()):
        shown += _toolchain_parts(guess)
    elif guess:
        shown += _parts_to_show(guess)
    return outermost([*shown, command])


def prefix_of(command: str) -> str:
    """The directory a command was installed into: the one above its `bin`. Empty if it lies
    anywhere else: then nobody can tell what the files around it are."""
    folder = os.path.dirname(os.path.normpath(command))
    return os.path.dirname(folder) if os.path.basename(folder) in _BIN else ""


def outermost(paths: Iterable[str]) -> list[str]:
    """These paths without those that lie in another of them, or in every box anyway."""
    kept: list[str] = []
    for path in sorted({os.path.normpath(path) for path in paths}):
        if not any(is_inside(path, other) for other in (*IN_EVERY_BOX, *kept)):
            kept.append(path)
    return kept


def is_inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _parts_to_show(prefix: str) -> list[str]:
    if not os.path.isabs(prefix) or not os.path.isdir(prefix):
        return []
    names = {prefix, os.path.realpath(prefix)}
    if any(map(_belongs_to_all, names)):
        return []
    if any(map(_is_shared_in_home, names)):
        return _toolchain_parts(prefix)
    return [prefix]


def _toolchain_parts(prefix: str) -> list[str]:
    parts = (os.path.join(prefix, name) for name in _OF_A_TOOLCHAIN)
    return [part for part in parts if os.path.exists(part)]


def _belongs_to_all(directory: str) -> bool:
    """Whether this is the root, a top directory, a home, or contains one."""
    if directory.count("/") < 2:
        return True
    return any(is_inside(home, directory) for home in _homes()) or (
        os.path.dirname(directory) in _HOMES
    )


def _is_shared_in_home(directory: str) -> bool:
    parent, name = os.path.split(directory)
    in_home = parent in _homes() or os.path.dirname(parent) in _HOMES
    return in_home and name.startswith(".")


def _homes() -> set[str]:
    homes = {os.path.expanduser("~"), "/root"}
    with contextlib.suppress(KeyError):  # a uid without an account, as in many containers
        homes.add(pwd.getpwuid(os.getuid()).pw_dir)
    known = {os.path.normpath(home) for home in homes if os.path.isabs(home)}
    return (known | {os.path.realpath(home) for home in known}) - {"/"}
