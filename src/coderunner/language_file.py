"""Reads one language's TOML file and says precisely what is wrong with it.

name, title, aliases, extensions, source, hello, image, warm, imports
compile, run, version    argv lists; what may stand in braces is told in `placeholders`
version_pattern          regex; its first group (or all it matches) is the version
artifacts                globs of what the compilation leaves for the run
env, compile_env         environment of both, of the compilation alone
mounts                   host paths (globs) outside /usr that the toolchain reads
volatile                 regex of what makes a compilation differ from one time to the next
memory_error             regex of what its runtime prints when it reaches the memory limit itself
memory_codes             the exit codes that it then ends with; a signal is 128 + its number
blank                    regexes of what is no code in a source: comments, string literals
[compile_limits]         fields of `Limits` that differ for the compilation
[scripts]                id = "text", for argv elements that are little programs
[tools.<id>]             names, apt, hint, probe, dirs, watch          (see `Tool`)
[prepare.<id>]           target, argv, env, files, limits,
                         optional, read_only, watch                    (see `Prepare`)
[entry]                  type, public, package, main                   (see `Entry`)
[[variant]]              if_file, if_main, if_source, unless_file;
                         compile, run, artifacts, env, files           (see `Variant`)
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from coderunner.errors import InvalidLanguageFile, InvalidLimits
from coderunner.language import Entry, Language, Prepare, Tool, Variant
from coderunner.model import File, Limits
from coderunner.placeholders import FILE_NAMES, LIMIT_NAMES, RESERVED, problem
from coderunner.toml_table import Table

_NAME = re.compile(r"[a-z0-9][a-z0-9+#._-]*")
_ID = re.compile(r"[a-z][a-z0-9_]*")


def read_language(file: Traversable | Path) -> Language:
    """The language that a TOML file describes."""
    try:
        values = tomllib.loads(file.read_bytes().decode("utf-8"))
    except OSError as error:
        raise InvalidLanguageFile(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidLanguageFile(f"{file}: is not UTF-8: {error.reason}") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidLanguageFile(f"{file}: is not valid TOML: {error}") from error
    return _language(Table(values, str(file)))


def _language(table: Table) -> Language:
    language = Language(
        name=table.text("name", pattern=_NAME),
        title=table.text("title"),
        aliases=table.words("aliases", default=()),
        extensions=table.words("extensions", pattern=re.compile(r"\.[^./\0]+")),
        source=table.text("source", pattern=re.compile(r"[^/\0]+")),
        hello=table.text("hello"),
        image=table.text("image", default=""),
        warm=table.text("warm", default=""),
        imports=table.text("imports", default=""),
        compile=table.words("compile", default=()),
        run=table.words("run"),
        version=table.words("version"),
        version_pattern=table.regex("version_pattern"),
        artifacts=table.words("artifacts", default=()),
        env=table.texts("env"),
        compile_env=table.texts("compile_env"),
        compile_limits=_limits(table, "compile_limits"),
        mounts=table.words("mounts", default=(), pattern=re.compile(r"/.+")),
        scripts=_scripts(table),
        volatile=table.regex("volatile"),
        memory_error=table.regex("memory_error"),
        memory_codes=table.codes("memory_codes"),
        blank=_alternatives(table.regexes("blank")),
        tools=tuple(_tool(name, sub) for name, sub in table.tables("tools")),
        prepare=tuple(_prepare(name, sub) for name, sub in table.tables("prepare")),
        entry=_entry(table),
        variants=tuple(_variant(sub) for sub in table.array("variant")),
        origin=table.origin,
    )
    table.nothing_else()
    _Check(table, language).all()
    return language


def _limits(table: Table, key: str) -> Mapping[str, int | float]:
    limits = table.table(key)
    if limits is None:
        return {}
    chosen: dict[str, int | float] = {}
    for item in fields(Limits):
        value = limits.number(item.name)
        if value is None:
            continue
        try:
            Limits(**{item.name: value})  # type: ignore[arg-type]  # this is what finds out
        except InvalidLimits as error:
            raise limits.error(item.name, error.message) from error
        chosen[item.name] = value
    limits.nothing_else()
    return chosen


def _scripts(table: Table) -> Mapping[str, str]:
    scripts = table.texts("scripts")
    for name in scripts:
        _check_id(table, "scripts", name)
    return scripts


def _alternatives(patterns: Sequence[re.Pattern[str]]) -> re.Pattern[str] | None:
    """One pattern for all: the earlier alternative wins where two could begin."""
    return re.compile("|".join(f"(?:{p.pattern})" for p in patterns)) if patterns else None


def _check_id(table: Table, key: str, name: str) -> None:
    if not _ID.fullmatch(name):
        raise table.error(key, f"{name!r} must be lower-case letters, digits and underscores")
    if name in RESERVED:
        raise table.error(key, f"{name!r} is the name of a placeholder already")


def _tool(name: str, table: Table) -> Tool:
    _check_id(table, "", name)
    tool = Tool(
        id=name,
        names=table.words("names", pattern=re.compile(r"[^/\0]+")),
        apt=table.text("apt", default=""),
        hint=table.text("hint", default=""),
        probe=table.words("probe", default=()),
        dirs=table.words("dirs", default=(), pattern=re.compile(r"(/|~/).*")),
        watch=table.words("watch", default=(), pattern=re.compile(r"(/|~/|\$).+")),
    )
    table.nothing_else()
    return tool


def _prepare(name: str, table: Table) -> Prepare:
    _check_id(table, "", name)
    prepare = Prepare(
        id=name,
        target=table.text("target", pattern=re.compile(r"(/[^/\0]+)+")),
        argv=table.words("argv"),
        env=table.texts("env"),
        files=_files(table),
        limits=_limits(table, "limits"),
        optional=table.flag("optional"),
        read_only=table.flag("read_only"),
        watch=table.words("watch", default=(), pattern=re.compile(r"/.+")),
    )
    table.nothing_else()
    return prepare


def _files(table: Table) -> tuple[File, ...]:
    texts = table.texts("files")
    for name in texts:
        path = PurePosixPath(name)
        if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
            raise table.error(f"files.{name}", "must be a relative path that stays inside")
    return tuple(File(name, text.encode()) for name, text in texts.items())


def _entry(table: Table) -> Entry | None:
    rules = table.table("entry")
    if rules is None:
        return None
    entry = Entry(
        type=rules.required_regex("type", group="name"),
        public=rules.required_regex("public"),
        package=rules.required_regex("package", group="name"),
        main=rules.regexes("main"),
    )
    rules.nothing_else()
    return entry


def _variant(table: Table) -> Variant:
    variant = Variant(
        if_file=table.text("if_file", default=""),
        if_main=table.text("if_main", default=""),
        if_source=table.regex("if_source"),
        unless_file=table.text("unless_file", default=""),
        compile=table.words("compile", default=()) or None,
        run=table.words("run", default=()) or None,
        artifacts=table.words("artifacts", default=()) or None,
        env=table.texts("env"),
        files=_files(table),
    )
    table.nothing_else()
    return variant


class _Check:
    """What can only be said of a language as a whole: its parts must fit together."""

    def __init__(self, table: Table, language: Language) -> None:
        self._table = table
        self._language = language
        self._tools = [tool.id for tool in language.tools]
        self._made = [prepare.id for prepare in language.prepare]
        self._fixed = {*self._tools, *language.scripts}

    def all(self) -> None:
        self._names()
        self._commands()
        self._tools_in_order()
        language = self._language
        if language.compile and not language.artifacts:
            raise self._table.error("artifacts", "is missing: what does the compilation make?")
        if not language.is_source(language.source):
            raise self._table.error("source", f"must end in {' or '.join(language.extensions)}")

    def _names(self) -> None:
        names = [*self._tools, *self._made, *self._language.scripts]
        for name in names:
            if names.count(name) > 1:
                raise self._table.error(name, "a tool, script or preparation each needs its own id")

    def _commands(self) -> None:
        language = self._language
        building = self._fixed | LIMIT_NAMES | set(self._made)
        compiling = building | FILE_NAMES
        running = compiling | {"args"}
        self._argv("version", language.version, self._fixed)
        self._argv("compile", language.compile, compiling)
        self._argv("run", language.run, running)
        self._env("env", language.env, building)
        self._env("compile_env", language.compile_env, building)
        for i, variant in enumerate(language.variants):
            self._argv(f"variant.{i}.compile", variant.compile or (), compiling)
            self._argv(f"variant.{i}.run", variant.run or (), running)
            self._env(f"variant.{i}.env", variant.env, building)
        for prepare in language.prepare:
            known = self._fixed | LIMIT_NAMES
            self._argv(f"prepare.{prepare.id}.argv", prepare.argv, known)
            self._env(f"prepare.{prepare.id}.env", prepare.env, known)

    def _tools_in_order(self) -> None:
        """A probe may use its own tool and those above it: they have been found by then."""
        known = set(self._language.scripts)
        for tool in self._language.tools:
            known.add(tool.id)
            self._argv(f"tools.{tool.id}.probe", tool.probe, known)

    def _argv(self, key: str, argv: Sequence[str], known: Collection[str]) -> None:
        if wrong := problem(argv, known, lists=True):
            raise self._table.error(key, wrong)

    def _env(self, key: str, env: Mapping[str, str], known: Collection[str]) -> None:
        if wrong := problem(tuple(env.values()), known, lists=False):
            raise self._table.error(key, wrong)
