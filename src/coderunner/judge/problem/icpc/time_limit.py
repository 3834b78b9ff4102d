"""How long a submission may take: problem.yaml says so, or a file of DOMjudge's or Kattis's."""

from __future__ import annotations

import math

from coderunner.judge.problem.document import Section
from coderunner.judge.problem.folder import Folder
from coderunner.judge.problem.model import TimeLimit

DOMJUDGE_FILE = "domjudge-problem.ini"
KATTIS_FILE = ".timelimit"
_LONGEST_S = 500_000
_LEGACY_MULTIPLIER, _MULTIPLIER = 5.0, 2.0


def read_time_limit(folder: Folder, limits: Section, *, legacy: bool) -> TimeLimit:
    seconds = limits.number("time_limit", above=0, most=_LONGEST_S)
    if seconds is None:
        seconds = in_other_files(folder)
    resolution = limits.number("time_resolution", above=0, most=_LONGEST_S)
    return TimeLimit(
        ms=None if seconds is None else milliseconds(seconds),
        multiplier=_multiplier(limits, legacy=legacy),
        resolution_ms=1000 if resolution is None else milliseconds(resolution),
    )


def in_other_files(folder: Folder) -> float | None:
    """In seconds."""
    if folder.has_file(path := folder / DOMJUDGE_FILE):
        ini = Section(_ini(folder.text(path)), folder.name(path))
        if (seconds := ini.number("timelimit", above=0, most=_LONGEST_S)) is not None:
            return seconds
    if folder.has_file(path := folder / KATTIS_FILE):
        said = Section({"timelimit": folder.text(path).strip() or None}, folder.name(path))
        return said.number("timelimit", above=0, most=_LONGEST_S)
    return None


def _multiplier(limits: Section, *, legacy: bool) -> float:
    given = limits.section("time_multipliers").number("ac_to_time_limit", least=1)
    if given is None:
        given = limits.number("time_multiplier", least=1)
    return given or (_LEGACY_MULTIPLIER if legacy else _MULTIPLIER)


def _ini(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines() if line[:1] not in (";", "#"))
    return {key.strip(): value.strip().strip("'\"") for key, equals, value in pairs if equals}


def milliseconds(seconds: float) -> int:
    return max(1, math.ceil(round(seconds * 1000, 6)))
