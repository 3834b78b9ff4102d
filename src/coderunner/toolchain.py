"""Finds the compilers and interpreters that a language needs, wherever they are installed.

Each tool is looked for in the caller's overrides, then on PATH, then in the directories its
language file names. What is found may be a shim (pyenv, rustup, volta, asdf): a small program
that looks up the real one, with the help of a home directory that a sandbox does not have. The
tool's `probe` sees through it. The result names the real commands, their version, and what else
of the host a sandbox must show for them to work (see `exposure`).

Probes cost up to a few hundred milliseconds, so their answers are kept (see `toolchain_cache`).
"""

from __future__ import annotations

import glob
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coderunner.errors import ToolchainMissing
from coderunner.exposure import outermost, to_show
from coderunner.language import Language, Tool
from coderunner.model import Mount
from coderunner.placeholders import expand
from coderunner.subprobe import ProbeFailed, ask
from coderunner.toolchain_cache import Cache, Signature, signature

_Places = Mapping[str, Sequence[str]]
_MOST_PLACES = 4  # of one tool that are tried before we give up
# Looking costs half a millisecond, and nobody upgrades a compiler between two runs of a batch.
_TRUSTED_SECONDS = 1.0
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A language's tools as they are on this machine."""

    language: str
    version: str
    tools: Mapping[str, str]  # tool id -> absolute path of the command
    mounts: tuple[Mount, ...] = ()  # what a sandbox must show beside /usr
    path: tuple[str, ...] = ()  # directories that belong on PATH
    image: str = ""  # the tools are in there, and not on this machine
    image_name: str = ""  # as people call it


@dataclass(frozen=True, slots=True)
class _Found:
    """What the probes said; this is what the cache keeps."""

    version: str
    tools: dict[str, str]
    shown: list[str] = field(default_factory=list)


class Toolchains:
    """Finds toolchains, each once. `overrides` are tool ids (or `language.tool`) with a path."""

    fetches = False

    def __init__(
        self, overrides: Mapping[str, str] | None = None, *, cache: Cache | None = None
    ) -> None:
        self._overrides = dict(overrides or {})
        self._cache = Cache() if cache is None else cache
        self._known: dict[str, Toolchain] = {}
        self._recent: dict[str, tuple[float, Toolchain]] = {}  # until when, and what

    async def find(self, language: Language) -> Toolchain:
        """The toolchain of a language; raises ToolchainMissing with the way to get it."""
        recent = self._recent.get(language.name)
        if recent is not None and time.monotonic() < recent[0]:
            return recent[1]
        found = await self._find(language)
        self._recent[language.name] = (time.monotonic() + _TRUSTED_SECONDS, found)
        return found

    async def _find(self, language: Language) -> Toolchain:
        places = self._places(language)
        key = _key(language, places)
        known = self._known.get(key)
        if known is None:
            found = self._recall(key) or await self._look(language, places, key)
            known = self._known[key] = _toolchain(language, found)
        return known

    def _places(self, language: Language) -> dict[str, list[str]]:
        """Where each tool was found, shim or not, the best place first."""
        places: dict[str, list[str]] = {}
        for tool in language.tools:
            chosen = self._override(language, tool)
            places[tool.id] = [chosen] if chosen else list(_candidates(tool))
        missing = [tool for tool in language.tools if not places[tool.id]]
        if missing:
            raise _missing(language, missing)
        return places

    def _override(self, language: Language, tool: Tool) -> str | None:
        for key in (f"{language.name}.{tool.id}", tool.id):
            chosen = self._overrides.get(key)
            if chosen is None:
                continue
            chosen = os.path.abspath(os.path.expanduser(chosen))
            if not _is_command(chosen):
                raise ToolchainMissing(
                    f"{language.title}: {key} is set to {chosen}, which is not a program",
                    hint="correct the setting, or remove it to have the tool looked for",
                )
            return chosen
        return None

    def _recall(self, key: str) -> _Found | None:
        kept = self._cache.get(key)
        return _from_cache(kept) if kept is not None else None

    async def _look(self, language: Language, places: _Places, key: str) -> _Found:
        try:
            found = await _see_through(language, places)
        except ProbeFailed as error:
            raise ToolchainMissing(
                f"{language.title}: {error.command} is installed but does not work: {error.reason}",
                hint=_install_hint(language.tools),
            ) from error
        signatures = [signature(path) for path in found.tools.values()]
        self._cache.put(
            key,
            {
                "version": found.version,
                "tools": found.tools,
                "shown": found.shown,
                "signatures": signatures,
            },
        )
        return found


def _candidates(tool: Tool) -> Iterator[str]:
    """Every place where a tool is, the best first. A relative entry on PATH is skipped: what it
    means depends on where we stand, and that may be a directory somebody else writes to."""
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    folders = [entry for entry in path if os.path.isabs(entry)]
    for pattern in tool.dirs:
        folders += sorted(glob.glob(os.path.expanduser(pattern)), key=_by_number, reverse=True)
    first_of: dict[str, str] = {}
    for folder in folders:
        first_of.setdefault(os.path.realpath(folder), folder)
    for name in tool.names:
        for folder in first_of.values():
            if _is_command(place := os.path.join(folder, name)):
                yield place


def _by_number(path: str) -> list[tuple[int, str]]:
    """Orders v20.1 after v9.3: the newest of several versions is the one to take."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", path)]


def _is_command(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


async def _see_through(language: Language, places: _Places) -> _Found:
    tools: dict[str, str] = {}
    shown: list[str] = []
    for tool in language.tools:
        real, prefixes = await _first_that_works(language, tool, places[tool.id], tools)
        tools[tool.id] = real
        shown += to_show(real, prefixes)
    printed = await ask(expand(language.version, {**language.scripts, **tools}))
    pattern = language.version_pattern or _VERSION
    match = pattern.search(printed)
    version = match[1] if match and pattern.groups else match[0] if match else ""
    return _Found(version or printed.strip().split("\n")[0], tools, outermost(shown))


async def _first_that_works(
    language: Language, tool: Tool, places: Sequence[str], found: Mapping[str, str]
) -> tuple[str, tuple[str, ...]]:
    """The first place that stands up to its probe: a shim may be left of a version that is
    gone, and then the next one on PATH is meant."""
    failure: ProbeFailed | None = None
    for place in places[:_MOST_PLACES]:
        try:
            return await _real(language, tool, place, found)
        except ProbeFailed as error:
            failure = failure or error
    assert failure is not None
    raise failure


async def _real(
    language: Language, tool: Tool, place: str, found: Mapping[str, str]
) -> tuple[str, tuple[str, ...]]:
    """A tool's real command, and the directories it needs beside its own."""
    if not tool.probe:
        return _without_links(place), ()
    printed = await ask(expand(tool.probe, {**language.scripts, **found, tool.id: place}))
    first, *prefixes = [line.strip() for line in printed.splitlines() if line.strip()] or [""]
    if os.path.isdir(first):  # a prefix stands for the command of the same name in it
        prefixes.insert(0, first)
        first = os.path.join(first, "bin", os.path.basename(place))
    if not os.path.isabs(first) or not _is_command(first):
        raise ProbeFailed(place, f"its probe named {first!r}, which is not a program")
    return first, tuple(prefixes)


def _without_links(place: str) -> str:
    """The file behind the links, since the links may lead through /etc/alternatives. But a
    command that goes by many names (busybox, ccache, mise) must be called by the right one."""
    real = os.path.realpath(place)
    if os.path.basename(place) in os.path.basename(real):
        return real
    return os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))


def _toolchain(language: Language, found: _Found) -> Toolchain:
    extra = [path for pattern in language.mounts for path in glob.glob(pattern)]
    shown = outermost([*found.shown, *extra])
    folders = dict.fromkeys(os.path.dirname(command) for command in found.tools.values())
    return Toolchain(
        language=language.name,
        version=found.version,
        tools=found.tools,
        mounts=tuple(Mount(Path(os.path.realpath(path)), path) for path in shown),
        path=tuple(folders),
    )


def _key(language: Language, places: _Places) -> str:
    """Changes with everything that could change what the probes say."""
    watched: list[tuple[str, Signature | str | None]] = []
    for tool in language.tools:
        watched += [(place, signature(place)) for place in places[tool.id][:_MOST_PLACES]]
        for item in tool.watch:
            if item.startswith("$"):
                watched.append((item, os.environ.get(item[1:])))
            else:
                watched.append((item, signature(os.path.expanduser(item))))
    asked = [(tool.id, tool.probe) for tool in language.tools]
    pattern = language.version_pattern.pattern if language.version_pattern else ""
    return repr((language.name, asked, language.version, pattern, language.scripts, watched))


def _from_cache(kept: Mapping[str, object]) -> _Found | None:
    """What the cache says, if it is whole and the commands are still the same files."""
    version, tools, shown = kept.get("version"), kept.get("tools"), kept.get("shown")
    if not isinstance(version, str) or not isinstance(tools, dict) or not isinstance(shown, list):
        return None
    if not all(isinstance(text, str) for text in (*tools.values(), *shown)):
        return None
    if [signature(path) for path in tools.values()] != kept.get("signatures"):
        return None
    return _Found(version, tools, shown)


def _missing(language: Language, tools: Sequence[Tool]) -> ToolchainMissing:
    names = ", ".join(" or ".join(tool.names) for tool in tools)
    return ToolchainMissing(
        f"{language.title} needs {names}, and this machine has no such command",
        hint=_install_hint(tools),
    )


def _install_hint(tools: Sequence[Tool]) -> str:
    packages = dict.fromkeys(name for tool in tools for name in tool.apt.split())
    other = dict.fromkeys(tool.hint for tool in tools if tool.hint)
    install = ["apt-get install " + " ".join(packages)] if packages else []
    return "; ".join([*install, *other])
