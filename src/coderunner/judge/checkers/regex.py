"""A pattern that the whole output must match.

A pattern may take for ever on an output that was made for it, and nothing stops Python's `re` in
mid-match. So it does its work in a sandbox, where a clock does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from coderunner.errors import InvalidInput
from coderunner.judge.checkers.program import LIMITS, JudgeProgram
from coderunner.judge.strictness import STRICT
from coderunner.model import File, Program

_TIME_MS = 10_000
_LONGEST = 10_000  # characters; it is compiled here, too
_PROGRAM = rb"""
import os
import re
import sys

sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape", newline="")
output = sys.stdin.read()
pattern = re.compile(open("pattern", encoding="utf-8").read(), int(sys.argv[4]))
os._exit(42 if pattern.fullmatch(output.rstrip()) else 43)
"""


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression of Python's. Space at the end of the output does not count, and the
    expected output is not looked at."""

    __pydantic_config__: ClassVar = STRICT

    pattern: str
    ignore_case: bool = False
    multiline: bool = False  # ^ and $ match at lines
    dot_all: bool = False  # . matches the ends of lines, too
    kind: Literal["regex"] = "regex"

    def __post_init__(self) -> None:
        if len(self.pattern) > _LONGEST:
            raise InvalidInput(f"the pattern has more than {_LONGEST} characters")
        try:
            re.compile(self.pattern, self.flags)
            self.pattern.encode()
        except (re.error, OverflowError, RecursionError, UnicodeEncodeError, TypeError) as error:
            raise InvalidInput(f"the pattern {self.pattern!r:.200} is none: {error}") from None

    @property
    def flags(self) -> int:
        chosen = (
            (self.ignore_case, re.IGNORECASE),
            (self.multiline, re.MULTILINE),
            (self.dot_all, re.DOTALL),
        )
        return int(sum(flag for wanted, flag in chosen if wanted))

    def as_program(self) -> JudgeProgram:
        files = (File("main.py", _PROGRAM), File("pattern", self.pattern.encode()))
        return JudgeProgram(
            Program("python", files),
            args=(str(self.flags),),
            limits=LIMITS.but({"wall_ms": _TIME_MS, "memory_mb": 512}),
            what="pattern",
        )
