"""Which verdicts are right for a submission: its folder says so, or a comment in it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from coderunner.errors import InvalidInput
from coderunner.judge.verdict import Verdict
from coderunner.model import File

Verdicts = frozenset[Verdict]

CRASHED = frozenset({Verdict.RUN_TIME_ERROR, Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT})
REJECTED = CRASHED | {Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT}
ACCEPTED = frozenset({Verdict.ACCEPTED})
_WRONG = frozenset({Verdict.WRONG_ANSWER})
_SLOW = frozenset({Verdict.TIME_LIMIT})
_COMPILE_ERROR = frozenset({Verdict.COMPILE_ERROR})
# Who is refused more memory mostly crashes before anybody sees that it was too much.
_MEMORY = frozenset({Verdict.MEMORY_LIMIT, Verdict.RUN_TIME_ERROR})
_OUTPUT = frozenset({Verdict.OUTPUT_LIMIT})

PARTIAL = "partially_accepted"
_OF_FOLDER = {
    "accepted": ACCEPTED,
    PARTIAL: ACCEPTED,
    "wrong_answer": _WRONG,
    "no_output": _WRONG,
    "time_limit_exceeded": _SLOW,
    "run_time_error": CRASHED,
    "runtime_error": CRASHED,
    "memory_limit": _MEMORY,
    "memory_limit_exceeded": _MEMORY,
    "output_limit": _OUTPUT,
    "output_limit_exceeded": _OUTPUT,
    "compile_error": _COMPILE_ERROR,
    "compiler_error": _COMPILE_ERROR,
    "rejected": REJECTED,
    "brute_force": CRASHED | _SLOW,
    "mixed": None,
}

# DOMjudge's names, and those that it takes for the same.
_OF_WORD = {
    "CORRECT": ACCEPTED,
    "ACCEPTED": ACCEPTED,
    "WRONG-ANSWER": _WRONG,
    "NO-OUTPUT": _WRONG,
    "TIMELIMIT": _SLOW,
    "TIME-LIMIT": _SLOW,
    "TIME-LIMIT-EXCEEDED": _SLOW,
    "RUN-ERROR": _MEMORY,
    "RUN-TIME-ERROR": _MEMORY,
    "RUNTIME-ERROR": _MEMORY,
    "MEMORY-LIMIT": _MEMORY,
    "MEMORY-LIMIT-EXCEEDED": _MEMORY,
    "OUTPUT-LIMIT": _OUTPUT,
    "OUTPUT-LIMIT-EXCEEDED": _OUTPUT,
    "COMPILER-ERROR": _COMPILE_ERROR,
    "COMPILE-ERROR": _COMPILE_ERROR,
}
_BY_HAND = "CHECK-MANUALLY"
_COMMENT = re.compile(rb"@EXPECTED_RESULTS@:([^\r\n]{0,400})")
_RESULT = re.compile(r"\s*([A-Za-z][A-Za-z_-]*[A-Za-z])")


def is_known(folder: str) -> bool:
    return folder in _OF_FOLDER


def of_folder(name: str) -> Verdicts | None:
    """None: that of this folder's name nothing follows."""
    return _OF_FOLDER.get(name)


def of_comment(files: Iterable[File]) -> Verdicts | None:
    """What is written in one of the files, as in `@EXPECTED_RESULTS@: WRONG-ANSWER, TIMELIMIT`.
    None: nothing is. Empty: that somebody has to look at it."""
    for file in files:
        if found := _COMMENT.search(file.content):
            return _verdicts(found[1].decode("utf-8", "replace"), file.name)
    return None


def in_language(expected: Verdicts | None, *, compiled: bool) -> Verdicts | None:
    """Where nothing is compiled, what would be a compile error shows when it is run. Other judges
    have a look at the syntax first, and their packages expect that."""
    if expected is None or compiled or Verdict.COMPILE_ERROR not in expected:
        return expected
    return expected | {Verdict.RUN_TIME_ERROR}


def _verdicts(said: str, where: str) -> Verdicts:
    verdicts: Verdicts = frozenset()
    for part in said.split(","):
        match = _RESULT.match(part)  # the comment may end behind it
        word = match[1].upper().replace("_", "-") if match else ""
        if word == _BY_HAND:
            return frozenset()
        if word not in _OF_WORD:
            raise InvalidInput(
                f"{where}: @EXPECTED_RESULTS@: {part.strip()[:40]!r} is no result",
                hint=", ".join(("CORRECT", *list(_OF_WORD)[2:])),
            )
        verdicts |= _OF_WORD[word]
    return verdicts
