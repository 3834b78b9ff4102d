"""Which file names a program may have.

A name is a relative path with forward slashes. Bytes that are not UTF-8 travel as surrogate
escapes, whatever the locale of the machine is.
"""

from __future__ import annotations

from collections.abc import Iterable

from coderunner.errors import InvalidProgram
from coderunner.model import File

MAX_PART_BYTES = 255  # NAME_MAX
# Far below PATH_MAX (4096): compilers and engines put a directory in front of it.
MAX_NAME_BYTES = 1024

_HINT = "use a relative path with forward slashes, such as 'main.py' or 'src/main.c'"


def check_names(files: Iterable[File]) -> None:
    """Raise InvalidProgram unless these files can be laid out in an empty directory."""
    files = tuple(files)
    if not files:
        raise InvalidProgram("a program needs at least one file", hint="pass its source file")
    for file in files:
        _check_text(file)
    check_layout(files)


def check_layout(files: Iterable[File]) -> None:
    """The part of `check_names` that also holds for what a compiler made: every name stays
    inside its directory, and no two are in each other's way."""
    names: set[tuple[bytes, ...]] = set()  # two texts can be the same bytes on disk
    for file in files:
        parts = tuple(map(encoded, split(file.name)))
        if parts in names:
            raise InvalidProgram(f"two files are named {file.name!r}")
        names.add(parts)
    for parts in names:
        for end in range(1, len(parts)):
            if parts[:end] in names:
                raise InvalidProgram(
                    f"{decoded(b'/'.join(parts[:end]))!r} is both a file and the directory of "
                    f"{decoded(b'/'.join(parts))!r}"
                )


def split(name: str) -> tuple[str, ...]:
    """The parts of a safe relative path, or InvalidProgram."""
    if problem := _problem(name):
        raise InvalidProgram(f"file name {shortened(name)} {problem}", hint=_HINT)
    return tuple(name.split("/"))


def encoded(name: str) -> bytes:
    return name.encode("utf-8", errors="surrogateescape")


def decoded(name: bytes) -> str:
    return name.decode("utf-8", errors="surrogateescape")


def shortened(name: str) -> str:
    """For messages: what is wrong with a name may be that it is a megabyte long."""
    return repr(name) if len(name) <= 80 else f"{name[:60]!r}… ({len(name)} characters)"


def _check_text(file: File) -> None:
    if not isinstance(file.name, str):
        raise InvalidProgram(f"a file name must be text, not {type(file.name).__name__}")
    if not isinstance(file.content, bytes):
        kind = type(file.content).__name__
        raise InvalidProgram(
            f"the content of {shortened(file.name)} must be bytes, not {kind}",
            hint="encode it, for example with text.encode()",
        )
    try:
        file.name.encode()
    except UnicodeEncodeError:
        raise InvalidProgram(f"file name {shortened(file.name)} is not valid Unicode") from None


def _problem(name: str) -> str:
    """What is wrong with a name, or nothing."""
    if not name:
        return "is empty"
    if "\0" in name:
        return "contains a NUL character"
    if "\\" in name:
        # Legal on Linux, but whoever sends one means a directory.
        return "contains a backslash"
    if name.startswith("/"):
        return "is absolute"
    try:
        raw = encoded(name)
    except UnicodeEncodeError:
        return "is not valid Unicode"
    if len(raw) > MAX_NAME_BYTES:
        return f"is longer than {MAX_NAME_BYTES} bytes"
    for part in raw.split(b"/"):
        if part in (b"", b".", b".."):
            return f"contains an empty part, '.' or '..' ({decoded(part)!r})"
        if len(part) > MAX_PART_BYTES:
            return f"has a part that is longer than {MAX_PART_BYTES} bytes"
    return ""
