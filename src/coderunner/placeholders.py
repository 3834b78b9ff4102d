"""The `{placeholders}` of a language file, and how they become an argv.

    {gcc}, {node} …        a tool's path           {main}            the main source file
    {a script's id}        a text of `[scripts]`   {main_stem}       the same without its extension
    {a preparation's id}   where it is to be seen  {main_dir}        its directory: "." or "./sub"
    {memory_mb}            the memory limit        {sources}   (*)   every source file
    {soft_memory_mb}       90% of it               {siblings}  (*)   those in the main file's place
    {thread_stack_mb}      for runtimes' own       {args}      (*)   the program's arguments
    {cpus}                 cores to plan for       {class}           what the entry rule found

The ones marked (*) stand for any number of words, so they are argv elements of their own. A
value is put in as it is and never looked at again: what a user wrote cannot become a placeholder.
"""

from __future__ import annotations

import math
import os
import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from coderunner.model import Limits

Value = str | tuple[str, ...]

LIMIT_NAMES = frozenset({"memory_mb", "soft_memory_mb", "thread_stack_mb", "cpus"})
FILE_NAMES = frozenset({"main", "main_stem", "main_dir", "sources", "siblings", "class"})
LIST_NAMES = frozenset({"sources", "siblings", "args"})
RESERVED = LIMIT_NAMES | FILE_NAMES | LIST_NAMES

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_PLAIN_PATH = re.compile(r"[\w.][^.]*\..*", re.DOTALL)
_SOFT_SHARE = 0.9
_MOST_STACK_MB = 1024  # the JVM refuses to start with more
_MOST_CPUS = 8  # runtimes start threads per core, and a box has few threads to give


class UnknownPlaceholder(ValueError):
    """An argv or environment value uses a name that has no value there."""


def expand(argv: Sequence[str], values: Mapping[str, Value]) -> tuple[str, ...]:
    """The argv with every placeholder replaced; list values become several words."""
    words: list[str] = []
    for word in argv:
        whole = _PLACEHOLDER.fullmatch(word)
        value = values.get(whole[1]) if whole else None
        if isinstance(value, tuple):
            words.extend(value)
        else:
            words.append(_expand_word(word, values))
    return tuple(words)


def expand_env(env: Mapping[str, str], values: Mapping[str, Value]) -> dict[str, str]:
    """The environment with every placeholder in its values replaced."""
    return {name: _expand_word(text, values) for name, text in env.items()}


def _expand_word(word: str, values: Mapping[str, Value]) -> str:
    def replace(match: re.Match[str]) -> str:
        value = values.get(match[1])
        if not isinstance(value, str):
            raise UnknownPlaceholder(f"{match[0]} has no value in {word!r}")
        return value

    return _PLACEHOLDER.sub(replace, word)


def names_in(words: Iterable[str]) -> set[str]:
    """The placeholders that these words use."""
    return {name for word in words for name in _PLACEHOLDER.findall(word)}


def problem(words: Sequence[str], known: Collection[str], *, lists: bool) -> str:
    """What is wrong with the placeholders of these words, or "" if nothing is."""
    for word in words:
        for name in _PLACEHOLDER.findall(word):
            if name not in known:
                return f"unknown placeholder {{{name}}}; here there are {_listed(known)}"
            if name in LIST_NAMES and not (lists and word == f"{{{name}}}"):
                return f"{{{name}}} stands for several words and must be an argv element of its own"
    return ""


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "none"


def plain_path(name: str) -> str:
    """A file name as a command can take it: whoever chose it must not thereby choose an option
    (`-x.c`), a response file (`@x.c`) or a subcommand (`node inspect`)."""
    return name if _PLAIN_PATH.fullmatch(name) else f"./{name}"


def file_values(main: str, sources: Sequence[str], class_name: str) -> dict[str, Value]:
    """The values that follow from a program's files."""
    folder = posixpath.dirname(main)
    siblings = (name for name in sources if posixpath.dirname(name) == folder)
    return {
        "main": plain_path(main),
        "main_stem": posixpath.splitext(plain_path(main))[0],
        "main_dir": f"./{folder}" if folder else ".",
        "sources": tuple(map(plain_path, sources)),
        "siblings": tuple(map(plain_path, siblings)),
        "class": class_name,
    }


def limit_values(limits: Limits) -> dict[str, Value]:
    """The values that follow from the limits of the run (or of the compilation)."""
    return {
        "memory_mb": str(limits.memory_mb),
        "soft_memory_mb": str(max(1, int(limits.memory_mb * _SOFT_SHARE))),
        "thread_stack_mb": str(_thread_stack(limits)),
        "cpus": str(_cpus(limits)),
    }


def _thread_stack(limits: Limits) -> int:
    """The stack that a runtime should give its threads. Filling one costs the JVM three times its
    size, and endless recursion should end in its own error, not in the memory limit."""
    return max(1, min(limits.stack_mb, limits.memory_mb // 16, _MOST_STACK_MB))


def _cpus(limits: Limits) -> int:
    """How many cores a runtime should plan for: it counts the machine's, not its share."""
    share = math.ceil(limits.cpus) if limits.cpus else _MOST_CPUS
    return max(1, min(share, os.cpu_count() or 1, _MOST_CPUS))
