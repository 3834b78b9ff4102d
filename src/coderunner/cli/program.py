"""From what was typed to a `Program`: which file is the main one, what everything is called.

The files lie in the sandbox as they lie on disk, below the deepest directory that holds all of
them: `src/main.c src/util/list.h` become `main.c` and `util/list.h`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from coderunner.errors import InvalidProgram
from coderunner.language import Language, Languages
from coderunner.model import MIB, File, Program

FROM_STDIN = "-"
_ARGS_HINT = "arguments of the program go after --"


@dataclass(frozen=True, slots=True)
class Typed:
    """What was on the command line."""

    positional: Sequence[str]
    after_dashes: Sequence[str] = ()
    code: str | None = None
    language: str | None = None
    data_files: Sequence[str] = ()
    variables: Sequence[str] = ()

    @property
    def takes_stdin(self) -> bool:
        """Whether the source comes from stdin, so that the program finds nothing there."""
        return self.code is None and list(self.positional[:1]) == [FROM_STDIN]


def read_program(typed: Typed, languages: Languages, *, disk_mb: int) -> Program:
    """Read every file; `disk_mb` is what the sandbox has room for."""
    room = disk_mb * MIB
    data = [_read(path, name, room) for name, path in map(_data_file, typed.data_files)]
    if typed.code is not None:
        language = _named_language(typed, languages, "-c")
        main = File(language.source, typed.code.encode("utf-8", "surrogateescape"))
        return _program(typed, language, [main, *data], (*typed.positional, *typed.after_dashes))
    if not typed.positional:
        raise InvalidProgram(
            "there is nothing to run", hint="coderunner run FILE, or -l LANGUAGE -c CODE"
        )
    if typed.takes_stdin:
        language = _named_language(typed, languages, FROM_STDIN)
        main = _read(0, language.source, room)
        return _program(
            typed, language, [main, *data], (*typed.positional[1:], *typed.after_dashes)
        )
    files = [_read(path, name, room) for path, name in _named(typed.positional)]
    language = _language_of(typed, languages)
    files[0] = _as_source(language, files[0], typed.positional[0])
    return _program(typed, language, [*files, *data], typed.after_dashes)


def _program(
    typed: Typed, language: Language, files: Sequence[File], args: Sequence[str]
) -> Program:
    env = dict(map(_variable, typed.variables))
    return Program(language.name, tuple(files), tuple(args), env)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:  # nothing of our own environment is passed on, not even by its name
        raise InvalidProgram(f"--env {text!r:.80} has no value", hint="write --env NAME=VALUE")
    return name, value


def _named_language(typed: Typed, languages: Languages, what: str) -> Language:
    if typed.language is None:
        raise InvalidProgram(f"{what} needs a language", hint=f"-l python {what} …")
    return languages.get(typed.language)


def _language_of(typed: Typed, languages: Languages) -> Language:
    if typed.language is not None:
        return languages.get(typed.language)
    return languages.for_file(typed.positional[0])


def _named(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Each path with its name below the directory they have in common."""
    if FROM_STDIN in paths:
        raise InvalidProgram("only the main file can come from stdin", hint="put - first")
    full = [os.path.abspath(path) for path in paths]
    base = os.path.commonpath([os.path.dirname(path) for path in full])
    return [(path, os.path.relpath(whole, base)) for path, whole in zip(paths, full, strict=True)]


def _as_source(language: Language, file: File, path: str) -> File:
    """The main file by a name that its language takes for source: `-l python script` runs
    script.py, or another file that has the right extension would be taken for the main one."""
    if language.is_source(file.name):
        return file
    if not os.path.isfile(path):  # a pipe: <(…) has a number for a name
        return File(language.source, file.content)
    return File(str(PurePosixPath(file.name).with_suffix(language.extensions[0])), file.content)


def _data_file(text: str) -> tuple[str, str]:
    """NAME=PATH, or a path that is its own name as far as it lies below this directory."""
    name, equals, path = text.partition("=")
    if equals:
        return name, path
    name = os.path.normpath(text)
    outside = os.path.isabs(name) or name.startswith("../")
    return (os.path.basename(name) if outside else name), text


def _read(path: str | int, name: str, room: int) -> File:
    what = repr(path) if path != 0 else "stdin"
    try:
        with open(path, "rb", closefd=path != 0) as file:
            if stat.S_ISDIR(os.fstat(file.fileno()).st_mode):
                raise IsADirectoryError
            content = file.read(room + 1)  # bounded: it may be /dev/zero
    except FileNotFoundError:
        raise InvalidProgram(f"there is no file {what}", hint=_ARGS_HINT) from None
    except IsADirectoryError:
        raise InvalidProgram(f"{what} is a directory", hint="name the files in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidProgram(f"{what} cannot be read: {reason}") from error
    if len(content) > room:
        raise InvalidProgram(
            f"{what} is larger than the sandbox's disk of {room // MIB} MB",
            hint="make more room with --disk",
        )
    return File(name, content)
