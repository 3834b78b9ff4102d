"""Hostile programs as data: each is a file whose first comment says what has to come of it.

    # 1. Allocates for ever.
    # The rest of the comment is for the reader, until the first line with a colon.
    # limits: memory_mb=64 wall_ms=5000
    # ends: memory

Lines that may be there:

    limits: NAME=VALUE …        beside the defaults of `Limits`
    compile limits: …           the same for the compiler
    ends: HOW | HOW …           `exit`, `exit 0`, `signal 9`, `memory`, `wall_time` …
    ends at sampled: …          where there is no cgroup and that makes a difference
    ends in containers: …       where Docker has other walls, or other words for them
    ends on gvisor: …           where the kernel is another one
    compiles: HOW | HOW …       how the compiler ends; without this line it must succeed
    says: TEXT                  all of stdout, without the last newline; once for each line
    says at sampled: …          … and so on
    may say in containers: …    or lines like this (`*` is anything): what is refused in other
                                words, or is harmless there
    args: WORD …                what it is started with
    not in containers: WHY
    not on gvisor: WHY
"""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from coderunner.model import File, Limits, Outcome, Program
from tests.engines.every import CONTAINERS, GVISOR

PROGRAMS = Path(__file__).parent / "programs"
_COMMENTS = ("#", "//", "--", "%")


@dataclass(frozen=True)
class Attack:
    path: Path
    title: str
    wishes: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Attack:
        title, *lines = _first_comment(path.read_text(encoding="utf-8"))
        wishes: dict[str, list[str]] = {}
        for line in lines:
            key, colon, value = line.partition(":")
            if colon and key in _KEYS:
                wishes.setdefault(key, []).append(value.strip())
        if not wishes.keys() & {"ends", "compiles"}:
            raise ValueError(f"{path.name} does not say how it ends")
        return cls(path, title, wishes)

    @property
    def id(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def kind(self) -> str:
        """By its number, of those that take a lot of something; all others are a kind each."""
        number = self.path.name.partition("_")[0]
        taking = self.path.parent.name == "resources" and number.isdigit()
        return f"resources/{number}" if taking else self.id

    @property
    def places(self) -> list[str]:
        """The engines it is for."""
        engines = {"not on gvisor": [GVISOR], "not in containers": CONTAINERS}
        closed = {engine for wish in self.wishes for engine in engines.get(wish, [])}
        return [engine for engine in ("linux", *CONTAINERS) if engine not in closed]

    @property
    def program(self) -> Program:
        language = {"py": "python", "sh": "bash"}.get(self.path.suffix[1:], self.path.suffix[1:])
        content = self.path.read_bytes()
        args = tuple(shlex.split(" ".join(self.wishes.get("args", []))))
        return Program(language, (File(f"main{self.path.suffix}", content),), args)

    @property
    def limits(self) -> Limits:
        return Limits().but(self._numbers("limits"))

    @property
    def compile_limits(self) -> Limits | None:
        numbers = self._numbers("compile limits")
        return Limits(memory_mb=512, processes=64).but(numbers) if numbers else None

    def _numbers(self, key: str) -> dict[str, float]:
        words = " ".join(self.wishes.get(key, [])).split()
        pairs = (word.split("=") for word in words)
        return {name: float(text) if "." in text else int(text) for name, text in pairs}

    def compiles(self) -> list[str]:
        """How the compiler may end; empty if it must succeed."""
        return _alternatives(self.wishes.get("compiles", []))

    def ends(self, where: Iterable[str]) -> list[str]:
        ways = _alternatives(self._there(where, "ends"))
        return [*ways, "exit 1"] if ON_GVISOR in where and "exit 0" in ways else ways

    def says(self, where: Iterable[str]) -> str | None:
        lines = self._there(where, "says")
        return "\n".join(lines) if lines else None

    def is_said(self, text: str, where: Iterable[str]) -> bool:
        """Whether it may have said that there."""
        wanted = self.says(where)
        if wanted is None or text == wanted:
            return True
        patterns = [line for place in where for line in self.wishes.get(f"may say {place}", [])]
        if ON_GVISOR in where:
            patterns += REFUSALS
        allowed = [*wanted.splitlines(), *patterns]
        return bool(patterns) and all(
            any(fnmatchcase(line, pattern) for pattern in allowed) for line in text.splitlines()
        )

    def _there(self, where: Iterable[str], key: str) -> list[str]:
        keys = [*(f"{key} {place}" for place in where), key]
        return next((self.wishes[key] for key in keys if key in self.wishes), [])


# A kernel of its own refuses for reasons of its own: there every line that is a refusal will do,
# and a program that has met one may exit with 1.
REFUSALS = [f"* {os.strerror(number)}" for number in errno.errorcode]
REFUSALS += [f"* {name}" for name in errno.errorcode.values()]
AT_SAMPLED, IN_CONTAINERS, ON_GVISOR = "at sampled", "in containers", "on gvisor"
_KEYS = {
    *("limits", "compile limits", "compiles", "args"),
    *(f"{key} {place}".strip() for key in ("ends", "says")
      for place in ("", AT_SAMPLED, IN_CONTAINERS, ON_GVISOR)),
    *(f"{key} {place}" for key in ("not", "may say") for place in (IN_CONTAINERS, ON_GVISOR)),
}  # fmt: skip


def attacks() -> list[Attack]:
    return [Attack.read(path) for path in sorted(PROGRAMS.glob("*/*.*"))]


def endings(outcome: Outcome) -> set[str]:
    """The ways in which an attack may have called this end."""
    code = outcome.exit_code if outcome.exit_code is not None else outcome.signal
    return {outcome.ended_by.value, f"{outcome.ended_by.value} {code}"}


def _alternatives(lines: list[str]) -> list[str]:
    return [way.strip() for line in lines for way in line.split("|")]


def _first_comment(text: str) -> list[str]:
    found = []
    for line in text.splitlines():
        mark = next((mark for mark in _COMMENTS if line.startswith(mark)), None)
        if mark is None:
            break
        if not line.startswith("#!"):
            found.append(line.removeprefix(mark).strip())
    return found
