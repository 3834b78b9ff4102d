"""The package's own output validator: a checker, or an interactor."""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import Path

from coderunner.errors import InvalidInput, UnknownLanguage
from coderunner.judge.checkers.program import Convention, JudgeProgram
from coderunner.judge.problem.folder import Folder
from coderunner.judge.problem.icpc.constants import filled_in
from coderunner.judge.problem.icpc.metadata import FILE, Metadata
from coderunner.judge.problem.sources import program_of
from coderunner.language import Language, Languages
from coderunner.language_file import read_language
from coderunner.model import File, Program
from coderunner.workspace import CollectedFile

_LEGACY_FOLDER, _FOLDER = "output_validators", "output_validator"
_SCRIPTS = frozenset({"build", "run"})


def read_validator(folder: Folder, metadata: Metadata, languages: Languages) -> JudgeProgram | None:
    """None: the default one will do."""
    place = None if metadata.custom is False else _place(folder, metadata, languages)
    if place is None:
        if what := _needing_one(metadata):
            where = _LEGACY_FOLDER if metadata.legacy else _FOLDER
            raise folder.error(folder / FILE, f"the problem {what}, but {where}/ has none")
        return None
    return _program(folder, place, metadata, languages)


def _place(folder: Folder, metadata: Metadata, languages: Languages) -> Path | None:
    """The file or the directory that is the validator."""
    names = (_LEGACY_FOLDER, _FOLDER) if metadata.legacy else (_FOLDER, _LEGACY_FOLDER)
    place = next((folder / name for name in names if folder.entries(folder / name)), None)
    if place is None:
        return None
    entries = folder.entries(place)
    folders = [entry for entry in entries if folder.has_folder(entry)]
    sources = [entry for entry in entries if _is_source(folder, entry, languages)]
    if any(entry.name in _SCRIPTS for entry in entries):
        return place
    if not sources and len(folders) == 1:
        return folders[0]
    if place.name == _FOLDER and sources:
        return place
    if len(sources) + len(folders) > 1:
        listed = ", ".join(entry.name for entry in (*folders, *sources))
        raise folder.error(place, f"several validators are not supported ({listed})")
    return place


def _is_source(folder: Folder, entry: Path, languages: Languages) -> bool:
    if folder.has_folder(entry):
        return False
    try:
        languages.for_file(entry.name)
    except UnknownLanguage:
        return False
    return True


def _needing_one(metadata: Metadata) -> str:
    """Why it cannot do without one."""
    if metadata.interactive:
        return "is interactive"
    if metadata.passes > 1:
        return "has several passes"
    return "has a validator of its own" if metadata.custom else ""


def _program(folder: Folder, place: Path, metadata: Metadata, languages: Languages) -> JudgeProgram:
    files = filled_in(folder.files(place), metadata.constants)
    language = None
    if any(file.name in _SCRIPTS for file in files):
        language = _scripted()
        program = Program(language.name, tuple(map(_executable, files)))
    else:
        try:
            program = program_of(files, languages, name=place.name)
        except InvalidInput as error:
            raise folder.error(place, error.message, hint=error.hint) from None
    return JudgeProgram(
        program,
        Convention.ICPC,
        limits=metadata.validator_limits,
        what="interactor" if metadata.interactive else "checker",
        language=language,
        passes=metadata.passes,
    )


@functools.cache
def _scripted() -> Language:
    return read_language(resources.files(__package__).joinpath("scripted.toml"))


def _executable(file: File) -> File:
    """Scripts may start any of the files beside them, and zip archives lose who may be started."""
    return CollectedFile(file.name, file.content, executable=True)
