"""submissions.yaml: globs of submissions, and what has to become of them.

A rule speaks of the verdicts of single tests: all are `permitted`, one at least is `required`. What
follows for the verdict of the whole is kept here. What is said of some tests only is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from coderunner.judge.problem.document import Section, read_yaml
from coderunner.judge.problem.expectations import ACCEPTED, CRASHED, REJECTED, Verdicts, of_folder
from coderunner.judge.problem.folder import Folder
from coderunner.judge.verdict import Verdict

FILE = "submissions.yaml"
_MOST_PATTERNS = 1000
_LONGEST_GLOB = 500
_ANY = ACCEPTED | REJECTED
_VERDICTS = {
    "AC": ACCEPTED,
    "WA": frozenset({Verdict.WRONG_ANSWER}),
    "TLE": frozenset({Verdict.TIME_LIMIT}),
    "RTE": CRASHED,
}
# What a rule that is called like a folder, and says only half of it, takes over.
_DEFAULTS = {
    "accepted": ("AC", ""),
    "rejected": ("", "RTE TLE WA"),
    "wrong_answer": ("AC WA", "WA"),
    "time_limit_exceeded": ("AC TLE", "TLE"),
    "run_time_error": ("AC RTE", "RTE"),
    "brute_force": ("AC RTE TLE", "RTE TLE"),
}
_KEYS = (
    "language",
    "entrypoint",
    "authors",
    "model_solution",
    "permitted",
    "required",
    "score",
    "message",
    "use_for_time_limit",
)


@dataclass(frozen=True, slots=True)
class Rule:
    glob: str
    patterns: tuple[tuple[str, ...], ...]  # of the parts of a path
    expected: Verdicts
    score: tuple[float, float] | None = None
    language: str = ""
    entry: str = ""
    sets_time_limit: bool | None = None  # None: nothing is said

    def fits(self, name: str) -> bool:
        """A rule for a directory holds for all in it."""
        parts = name.split("/")
        return any(
            len(pattern) <= len(parts)
            and all(fnmatchcase(part, glob) for part, glob in zip(parts, pattern, strict=False))
            for pattern in self.patterns
        )


@dataclass(frozen=True, slots=True)
class Rules:
    rules: tuple[Rule, ...] = ()

    def of(self, name: str) -> list[Rule]:
        return [rule for rule in self.rules if rule.fits(name)]

    def expected(self, name: str) -> Verdicts | None:
        """What all rules agree on. The folder's own meaning counts if no rule is called like it.
        Empty: they contradict each other."""
        folder = name.partition("/")[0]
        by_folder = None if any(rule.glob == folder for rule in self.rules) else of_folder(folder)
        sets = [rule.expected for rule in self.of(name)]
        if by_folder is not None:
            sets.append(by_folder)
        return frozenset.intersection(*sets) if sets else None


def read_rules(folder: Folder, submissions: Path) -> Rules:
    path = submissions / FILE
    if not folder.has_file(path):
        return Rules()
    yaml = read_yaml(folder, path)
    return Rules(tuple(_rule(glob, yaml.section(glob)) for glob in yaml))


def _rule(glob: str, said: Section) -> Rule:
    said.no_misspelt(_KEYS)
    return Rule(
        glob,
        tuple(tuple(pattern.split("/")) for pattern in _patterns(glob, said)),
        _expected(glob, said),
        _score(said),
        said.text("language"),
        said.text("entrypoint"),
        _sets_time_limit(said),
    )


def _expected(glob: str, said: Section) -> Verdicts:
    """A whole is accepted if all of it is; else it may be whatever else is permitted, as the
    required one may have come later."""
    default_permitted, default_required = _DEFAULTS.get(glob, ("", ""))
    permitted = _verdicts(said, "permitted", default_permitted)
    required = _verdicts(said, "required", default_required)
    return (permitted - ACCEPTED) | (permitted & required & ACCEPTED)


def _verdicts(said: Section, key: str, default: str) -> Verdicts:
    words = said.words(key) if key in said else tuple(default.split())
    found: Verdicts = frozenset()
    for word in words:
        if word not in _VERDICTS:
            raise said.error(key, f"{word!r:.40} is no verdict", hint=", ".join(_VERDICTS))
        found |= _VERDICTS[word]
    return found or _ANY


def _score(said: Section) -> tuple[float, float] | None:
    value = said.get("score")
    if value is None:
        return None
    bounds = value if isinstance(value, list) else [value, value]
    numbers = [float(one) for one in bounds if isinstance(one, int | float)]
    if len(bounds) != 2 or len(numbers) != 2:
        raise said.error("score", "must be a number, or a list of two: the least and the most")
    return numbers[0], numbers[1]


def _sets_time_limit(said: Section) -> bool | None:
    value = said.get("use_for_time_limit")
    if value is None or value is True:
        return None
    if value not in (False, "lower", "upper"):
        raise said.error("use_for_time_limit", "must be true, false, lower or upper")
    return value == "lower"


def _patterns(glob: str, said: Section) -> list[str]:
    """The glob without its braces: {a,b} is two patterns. `[` and `?` are letters here."""
    if len(glob) > _LONGEST_GLOB:
        raise said.error("", f"is longer than {_LONGEST_GLOB} characters")
    text = glob.rstrip("/").replace("[", "[[]").replace("?", "[?]")
    found = []
    for pattern in _expanded(text):
        found.append(pattern)
        if len(found) > _MOST_PATTERNS:
            raise said.error("", f"its braces stand for more than {_MOST_PATTERNS} patterns")
    return found


def _expanded(text: str) -> Iterator[str]:
    """The innermost braces first: those before whose end no other begins."""
    end = text.find("}")
    start = text.rfind("{", 0, end) if end >= 0 else -1
    if start < 0:
        yield text
        return
    for choice in text[start + 1 : end].split(","):
        yield from _expanded(text[:start] + choice + text[end + 1 :])
