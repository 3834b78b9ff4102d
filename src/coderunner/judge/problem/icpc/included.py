"""include/: files that every submission in a language gets."""

from __future__ import annotations

from collections.abc import Mapping

from coderunner.errors import UnknownLanguage
from coderunner.judge.problem.folder import Folder
from coderunner.judge.problem.icpc.constants import filled_in
from coderunner.language import Languages
from coderunner.model import File

_FOR_ALL = "default"


def read_included(
    folder: Folder, languages: Languages, constants: Mapping[str, str]
) -> dict[str, tuple[File, ...]]:
    """By the language's name. What lies in include/default goes to all of them, but gives way to
    a file of the same name in the language's own directory."""
    found: dict[str, tuple[File, ...]] = {}
    for path in folder.entries(folder / "include"):
        if folder.has_folder(path) and (name := _language(path.name, languages)):
            found[name] = filled_in(folder.files(path), constants)
    for_all = found.pop(_FOR_ALL, ())
    if for_all:
        for language in languages:
            own = found.get(language.name, ())
            found[language.name] = tuple({file.name: file for file in (*for_all, *own)}.values())
    return found


def _language(name: str, languages: Languages) -> str:
    """Nothing if it is one that cannot be run here anyway."""
    if name == _FOR_ALL:
        return name
    try:
        return languages.get(name).name
    except UnknownLanguage:
        return ""
