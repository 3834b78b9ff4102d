"""How a program's files become what a compiler expects: names, main file, what to start.

In most languages this is simple: the first source file is the main one. Where a file's name or
the thing to start follows from what is written in it (Java), the language's `[entry]` rules find
it. They are regexes over the *code*: comments and string literals are blanked first, and only
what stands outside all braces is looked at when types are searched, so that neither a comment nor
a nested class is taken for the real thing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coderunner.errors import InvalidProgram
from coderunner.language import Entry, Language
from coderunner.model import File

_NOT_NEWLINE = re.compile(r"[^\n]")
_BRACKET = re.compile(r"[(){}]")
_MOST_NESTING = 5  # types within types that may hold the main: each level is one more pass


@dataclass(frozen=True, slots=True)
class Layout:
    """A program's files as they are to lie in the workspace, and what the commands need of them."""

    language: Language  # with the variants that fit these files
    files: tuple[File, ...]
    main: str
    sources: tuple[str, ...]
    class_name: str  # what to start, where the language has such a thing


@dataclass(frozen=True, slots=True)
class _Type:
    name: str
    public: bool
    body: str


@dataclass(frozen=True, slots=True)
class _Scope:
    """A piece of code: what stands outside of braces, and the types declared there."""

    outer: str
    types: tuple[_Type, ...]


@dataclass(frozen=True, slots=True)
class _Start:
    """Something that can be started: lower ranks are better."""

    rank: tuple[int, int, int]
    name: str


def lay_out(language: Language, files: Sequence[File]) -> Layout:
    """Name the files as the language wants them, and find what is to be started."""
    if not files:
        raise InvalidProgram("a program needs at least one file", hint="pass its source code")
    main = next((i for i, file in enumerate(files) if language.is_source(file.name)), 0)
    class_name = ""
    if language.entry:
        scopes = _scopes(language, language.entry, files, main)
        class_name = _class_to_start(language.entry, files, scopes)
        files = _renamed(language, files, scopes)
    return _with_variants(language, tuple(files), files[main], class_name)


def _with_variants(
    language: Language, files: tuple[File, ...], main: File, class_name: str
) -> Layout:
    names = {file.name for file in files}
    code = code_only(language, main.content) if language.variants else ""
    for variant in language.variants:
        if variant.fits(names, main.name, code):
            language = language.varied(variant)
            files += tuple(file for file in variant.files if file.name not in names)
    _check_artifacts(language, files)
    sources = [f.name for f in files if language.is_source(f.name) and f.name != main.name]
    return Layout(language, files, main.name, (main.name, *sources), class_name)


def _check_artifacts(language: Language, files: tuple[File, ...]) -> None:
    """Where the compiler writes, no file may lie: it would be lost without a word."""
    for file in files:
        if language.compile and file.name in language.artifacts:
            raise InvalidProgram(
                f"{file.name!r} is the name of what the compiler makes of {language.title}",
                hint="call the file something else",
            )


def code_only(language: Language, content: bytes) -> str:
    """A source's text with comments and literals turned into spaces; lines stay where they are.
    Bytes that are not UTF-8 become U+FFFD: this text is only searched, never compiled."""
    text = content.decode("utf-8", errors="replace")
    if language.blank is None:
        return text
    return language.blank.sub(lambda match: _NOT_NEWLINE.sub(" ", match[0]), text)


def _scopes(
    language: Language, entry: Entry, files: Sequence[File], main: int
) -> dict[int, _Scope]:
    """What each source file declares, by the file's index, the main file first."""
    sources = [i for i, f in enumerate(files) if i != main and language.is_source(f.name)]
    return {i: _scope(entry, code_only(language, files[i].content)) for i in (main, *sources)}


def _renamed(language: Language, files: Sequence[File], scopes: dict[int, _Scope]) -> list[File]:
    """Every source called after its public type. A name that is taken already is left alone:
    the compiler then says what is wrong, and does so better than we could."""
    result = list(files)
    taken = {file.name for file in files}
    for i, scope in scopes.items():
        public = next((found.name for found in scope.types if found.public), None)
        folder, base = posixpath.split(files[i].name)
        stem, extension = posixpath.splitext(base)
        if public is None or public == stem:
            continue
        if extension not in language.extensions:
            extension = language.extensions[0]
        name = posixpath.join(folder, public + extension)
        if name not in taken:
            taken.add(name)
            result[i] = replace(files[i], name=name)
    return result


def _class_to_start(entry: Entry, files: Sequence[File], scopes: dict[int, _Scope]) -> str:
    """The best start in the main file, else in any other; else whatever the main file is about,
    so that the runtime can tell its user that there is nothing to start."""
    for i, scope in scopes.items():
        starts = list(_starts(entry, scope, _stem(files[i])))
        if starts:
            best = min(starts, key=lambda start: start.rank)
            return _package(entry, scope) + best.name
    first = next(iter(scopes))
    types = sorted(scopes[first].types, key=lambda found: not found.public)
    name = types[0].name if types else _stem(files[first])
    return _package(entry, scopes[first]) + (name if re.match(r"[\w$]", name) else "Main")


def _stem(file: File) -> str:
    return posixpath.splitext(posixpath.basename(file.name))[0]


def _package(entry: Entry, scope: _Scope) -> str:
    found = entry.package.search(scope.outer)
    return re.sub(r"\s", "", found["name"]) + "." if found else ""


def _starts(entry: Entry, scope: _Scope, stem: str) -> Iterator[_Start]:
    """Every entry point of a source. A main outside of any type belongs to the type that the
    compiler makes up and names after the file."""
    for way, pattern in enumerate(entry.main):
        if pattern.search(scope.outer):
            yield _Start((way, 0, 1), stem)
    for found in scope.types:
        yield from _starts_in(entry, found, found.name, 0)


def _starts_in(entry: Entry, found: _Type, name: str, depth: int) -> Iterator[_Start]:
    if not any(pattern.search(found.body) for pattern in entry.main):
        return
    scope = _scope(entry, found.body)
    for way, pattern in enumerate(entry.main):
        if pattern.search(scope.outer):
            yield _Start((way, depth, 0 if found.public else 1), name)
    if depth < _MOST_NESTING:
        for inner in scope.types:
            yield from _starts_in(entry, inner, f"{name}${inner.name}", depth + 1)


def _scope(entry: Entry, code: str) -> _Scope:
    """What is declared directly in this code. A declaration reaches from the end of the one
    before it to its body, and its body ends before the next: so this takes one pass."""
    outer = _outer(code)
    matches = list(entry.type.finditer(outer))
    ends = [match.start() for match in matches[1:]] + [len(outer)]
    types: list[_Type] = []
    before = 0
    for match, end in zip(matches, ends, strict=False):
        head_from = max(outer.rfind(mark, before, match.start()) for mark in ";{}") + 1
        head = outer[max(before, head_from) : match.start()]
        opening = outer.find("{", match.end(), end)
        closing = outer.find("}", opening, end) if opening >= 0 else -1
        body = code[opening + 1 : closing] if closing >= 0 else ""  # "": an unfinished source
        types.append(_Type(match["name"], entry.public.search(head) is not None, body))
        before = match.end()
    return _Scope(outer, tuple(types))


def _outer(code: str) -> str:
    """The same text with everything inside braces blanked, the outermost braces kept. Braces in
    parentheses (an annotation's list, a lambda) are blanked altogether."""
    parts: list[str] = []
    stack: list[str] = []
    braces = done = 0
    for match in _BRACKET.finditer(code):
        char = match[0]
        between = code[done : match.start()]
        parts.append(" " * len(between) if braces else between)
        done = match.end()
        if char in ")}" and stack and stack[-1] == char:
            stack.pop()
            braces -= char == "}"
        hidden = braces or (stack and char in "{}")
        parts.append(" " if hidden else char)
        if char in "({":
            stack.append(")" if char == "(" else "}")
            braces += char == "{"
    parts.append(" " * (len(code) - done) if braces else code[done:])
    return "".join(parts)
