"""Languages are data: what one is, and the registry that knows them all.

A language is one TOML file (see `language_file` for the schema). The built-in ones lie in
`languages/`; a user adds or replaces one by dropping a file into a directory of their own.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from coderunner.errors import InvalidLanguageFile, UnknownLanguage
from coderunner.model import File

_MOST_LISTED = 30


@dataclass(frozen=True, slots=True)
class Tool:
    """One command that a language needs, and where it may be found."""

    id: str
    names: tuple[str, ...]  # looked for in this order
    apt: str = ""  # the Debian package that has it
    hint: str = ""  # how else to get it
    probe: tuple[str, ...] = ()  # sees through shims: prints the real command, then directories
    dirs: tuple[str, ...] = ()  # where it may be, beside PATH: `~` and globs allowed
    watch: tuple[str, ...] = ()  # files and $VARIABLES that decide where a shim leads


@dataclass(frozen=True, slots=True)
class Prepare:
    """Something expensive that is made once per toolchain and safe to share between runs.

    `argv` fills the directory `prepared` in its working directory; later jobs that name it see
    that directory at `target`, looking writable, and what they write to it is thrown away.

    What is `optional` only saves time. Nobody waits for it: until it is there, the words and
    variables that name it are left out of commands.
    """

    id: str
    target: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    limits: Mapping[str, int | float] = field(default_factory=dict)  # fields of `Limits`
    optional: bool = False
    read_only: bool = False  # and cheaper: nobody needs to write to it
    watch: tuple[str, ...] = ()  # host paths (globs) it was made from, beside the tools


@dataclass(frozen=True, slots=True)
class Entry:
    """How a source file's name and the thing to start follow from what is written in it."""

    type: re.Pattern[str]  # a type's declaration, with the group `name`
    public: re.Pattern[str]  # found in a declaration: its file must be called after it
    package: re.Pattern[str]  # with the group `name`
    main: tuple[re.Pattern[str], ...]  # the entry point; earlier ones are preferred


@dataclass(frozen=True, slots=True)
class Variant:
    """What is different for programs that meet all of its conditions."""

    if_file: str = ""  # a glob that one of the files matches
    if_main: str = ""  # a glob that the main file's name matches
    if_source: re.Pattern[str] | None = None  # found in the code of the main file
    unless_file: str = ""  # a glob that none of the files matches
    compile: tuple[str, ...] | None = None
    run: tuple[str, ...] | None = None
    artifacts: tuple[str, ...] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    files: tuple[File, ...] = ()  # added to the program

    def fits(self, names: Collection[str], main: str, code: str) -> bool:
        """Whether all conditions hold; `code` is the main source without comments and strings."""
        return (
            (not self.if_file or any(fnmatchcase(name, self.if_file) for name in names))
            and (not self.if_main or fnmatchcase(main, self.if_main))
            and (self.if_source is None or self.if_source.search(code) is not None)
            and not any(fnmatchcase(name, self.unless_file) for name in names)
        )


@dataclass(frozen=True, slots=True)
class Language:
    """Everything CodeRunner knows about one language."""

    name: str
    title: str
    extensions: tuple[str, ...]
    source: str  # the file name of code that came without one
    run: tuple[str, ...]
    version: tuple[str, ...]
    tools: tuple[Tool, ...]
    hello: str  # prints "Hello from <title>"
    aliases: tuple[str, ...] = ()
    compile: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()  # globs of what the compilation leaves for the run
    version_pattern: re.Pattern[str] | None = None
    env: Mapping[str, str] = field(default_factory=dict)  # of compilation and run
    compile_env: Mapping[str, str] = field(default_factory=dict)  # of the compilation only
    compile_limits: Mapping[str, int | float] = field(default_factory=dict)
    mounts: tuple[str, ...] = ()  # globs of host paths that the toolchain reads outside /usr
    image: str = ""  # Docker's
    warm: str = ""  # the strategy by which an engine may keep it warm
    imports: str = ""  # how its sources' imports are read, where a door restricts them
    prepare: tuple[Prepare, ...] = ()
    scripts: Mapping[str, str] = field(default_factory=dict)  # texts, by placeholder
    volatile: re.Pattern[str] | None = None  # in a source: compiled twice it is not the same
    memory_error: re.Pattern[str] | None = None  # what its runtime says on reaching the limit
    memory_codes: tuple[int, ...] = ()  # and ends with then; empty: any failure
    blank: re.Pattern[str] | None = None  # what in a source is no code: comments, strings
    entry: Entry | None = None
    variants: tuple[Variant, ...] = ()
    origin: str = ""  # the file it was read from

    def is_source(self, filename: str) -> bool:
        return PurePosixPath(filename).suffix in self.extensions

    def varied(self, variant: Variant) -> Language:
        """This language as it is for programs that the variant fits."""
        return replace(
            self,
            compile=self.compile if variant.compile is None else variant.compile,
            run=self.run if variant.run is None else variant.run,
            artifacts=self.artifacts if variant.artifacts is None else variant.artifacts,
            env={**self.env, **variant.env},
        )


def user_config_dir() -> Path | None:
    """Where a user's own settings and languages lie: `$XDG_CONFIG_HOME/coderunner`."""
    config = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(config):  # the XDG specification: relative paths are to be ignored
        home = os.path.expanduser("~")
        if not os.path.isabs(home):
            return None
        config = os.path.join(home, ".config")
    return Path(config, "coderunner")


def user_language_dir() -> Path | None:
    config = user_config_dir()
    return config / "languages" if config else None


class Languages:
    """All languages, by name, alias and file extension.

    They come in layers: the built-in ones, then each user directory in turn. A later layer wins:
    a language of the same name replaces the earlier one, and an alias or extension that two
    languages claim belongs to the later one. Within one layer a double claim is an error.
    """

    def __init__(self, user_dirs: Sequence[Path] = ()) -> None:
        self._languages: dict[str, Language] = {}
        self._names: dict[str, Language] = {}
        self._extensions: dict[str, Language] = {}
        layers = [_read_builtin(), *(_read_directory(directory) for directory in user_dirs)]
        for layer in layers:
            self._languages.update(_claims(layer, lambda language: (language.name,), "name"))
        alive = set(map(id, self._languages.values()))
        for layer in layers:
            kept = [language for language in layer if id(language) in alive]
            self._names.update(_claims(kept, _all_names, "name"))
            self._extensions.update(_claims(kept, _all_extensions, "extension"))

    def __iter__(self) -> Iterator[Language]:
        return iter(sorted(self._languages.values(), key=lambda language: language.name))

    def __len__(self) -> int:
        return len(self._languages)

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._names

    def get(self, name: str) -> Language:
        """The language of this name or alias, in whatever case."""
        if not isinstance(name, str):
            raise UnknownLanguage(f"{name!r} is not the name of a language", hint=self._listed())
        found = self._names.get(name.strip().casefold())
        if found is None:
            raise UnknownLanguage(f"no language is called {name!r}", hint=self._nearest(name))
        return found

    def for_file(self, filename: str) -> Language:
        """The language whose extension the file has."""
        suffix = PurePosixPath(filename).suffix
        found = self._extensions.get(suffix) or self._extensions.get(suffix.casefold())
        if found is None:
            why = f"no language has the extension {suffix!r}" if suffix else "it has no extension"
            raise UnknownLanguage(
                f"cannot tell the language of {filename!r}: {why}",
                hint="name the language; there are " + self._listed(),
            )
        return found

    def compile_by(self, name: str, command: Sequence[str]) -> None:
        """Have a language's programs compiled by another command."""
        from coderunner.compile_command import compiled_by

        old = self.get(name)
        new = compiled_by(old, command)
        for known in (self._languages, self._names, self._extensions):
            known.update({key: new for key, language in known.items() if language is old})

    def _nearest(self, name: str) -> str:
        near = difflib.get_close_matches(name.casefold(), self._names, n=3, cutoff=0.5)
        if near:
            return "did you mean " + " or ".join(near) + "?"
        return "there are " + self._listed()

    def _listed(self) -> str:
        names = [language.name for language in self]
        more = len(names) - _MOST_LISTED
        return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _all_names(language: Language) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.casefold() for name in (language.name, *language.aliases)))


def _all_extensions(language: Language) -> tuple[str, ...]:
    return language.extensions


def _claims(
    layer: Sequence[Language], keys: Callable[[Language], tuple[str, ...]], kind: str
) -> dict[str, Language]:
    """Who in a layer has which key."""
    claimed: dict[str, Language] = {}
    for language in layer:
        for key in keys(language):
            other = claimed.setdefault(key, language)
            if other is not language:
                raise InvalidLanguageFile(
                    f"{language.origin}: the {kind} {key!r} is already claimed by {other.origin}",
                    hint="remove it from one of the two files",
                )
    return claimed


def _read_builtin() -> list[Language]:
    return _read_all(resources.files("coderunner").joinpath("languages").iterdir())


def _read_directory(directory: Path) -> list[Language]:
    try:
        if not directory.is_dir():
            return []
    except PermissionError:
        return []  # somebody else's home, as after `su`: nothing in there was meant for us
    try:
        return _read_all(directory.iterdir())
    except OSError as error:
        raise InvalidLanguageFile(
            f"{directory}: cannot be read: {error.strerror}", hint="make it readable, or remove it"
        ) from error


def _read_all(files: Iterable[Traversable | Path]) -> list[Language]:
    # Imported here because a language file is read into the classes above.
    from coderunner.language_file import read_language

    found = [file for file in files if file.name.endswith(".toml") and file.is_file()]
    return [read_language(file) for file in sorted(found, key=lambda file: file.name)]
