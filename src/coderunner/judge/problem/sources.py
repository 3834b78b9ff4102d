"""From the files of a submission or a validator to a program: which language, which main file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from coderunner.errors import InvalidInput, UnknownLanguage
from coderunner.language import Language, Languages
from coderunner.model import File, Program
from coderunner.workspace.names import check_names

Included = Mapping[str, tuple[File, ...]]
"""Files that are added to every program in a language, by the language's name."""

_MAIN = frozenset({"main", "__main__"})
_NAMES_ANOTHER = frozenset({b"import", b"from", b"require", b"include", b"use", b"load", b"mod"})
_WORD = re.compile(rb"\w+")
_MOST_LOOKED_THROUGH = 64  # sources; and lines longer than this are data
_LONGEST_LINE = 1000


def program_of(
    files: Sequence[File],
    languages: Languages,
    *,
    name: str = "",
    language: str = "",
    entry: str = "",
    included: Included | None = None,
) -> Program:
    """`name` is what somebody has called all of it; `entry` the file or class to start, if that
    was said. Files that are included win over those of the same name."""
    if not files:
        raise InvalidInput(f"{name}: there is no file in it")
    chosen = languages.get(language) if language else language_of(files, languages)
    added = (included or {}).get(chosen.name, ())
    together = tuple({file.name: file for file in (*files, *added)}.values())
    check_names(together)
    return Program(chosen.name, main_first(chosen, together, name, entry))


def language_of(files: Sequence[File], languages: Languages) -> Language:
    """That of most files. `UnknownLanguage` if there is no such thing."""
    if len(files) == 1:
        return languages.for_file(files[0].name)
    counts: Counter[str] = Counter()
    for file in files:
        try:
            counts[languages.for_file(file.name).name] += 1
        except UnknownLanguage:
            continue  # data, a header, a note
    ranked = counts.most_common(2)
    if not ranked:
        names = ", ".join(file.name for file in files[:5])
        raise UnknownLanguage(f"no language has the extension of any of its files ({names})")
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        raise UnknownLanguage(f"is it {ranked[0][0]} or {ranked[1][0]}? It has files of both")
    return languages.get(ranked[0][0])


def main_first(
    language: Language, files: Sequence[File], name: str = "", entry: str = ""
) -> tuple[File, ...]:
    """The main file first: the one that was said to be; one that is called main, or as the whole
    is; one that no other makes use of. The others by name."""
    sources = [file for file in files if language.is_source(file.name)]
    used = _used_by_others(sources)
    own_name = PurePosixPath(name).stem.casefold()

    def rank(file: File) -> tuple[bool, bool, bool, bool, bool, int, str]:
        stem = _stem(file)
        return (
            not language.is_source(file.name),
            entry not in (file.name, stem),
            stem.casefold() not in _MAIN,
            stem.casefold() != own_name,
            stem in used,
            file.name.count("/"),
            file.name,
        )

    return tuple(sorted(files, key=rank))


def _used_by_others(sources: Sequence[File]) -> frozenset[str]:
    """The stems that other sources name where they import something."""
    if not 1 < len(sources) <= _MOST_LOOKED_THROUGH:
        return frozenset()
    named = {file.name: _named_in_imports(file.content) for file in sources}
    return frozenset(
        _stem(file)
        for file in sources
        for other in sources
        if other is not file and _stem(file).encode("utf-8", "replace") in named[other.name]
    )


def _named_in_imports(content: bytes) -> set[bytes]:
    found: set[bytes] = set()
    for line in content.splitlines():
        if len(line) <= _LONGEST_LINE:
            words = set(_WORD.findall(line))
            found |= words if words & _NAMES_ANOTHER else set()
    return found


def _stem(file: File) -> str:
    return PurePosixPath(file.name).stem
