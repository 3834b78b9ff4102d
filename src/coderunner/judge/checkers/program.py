"""A program of the problem's author that says whether an output is right. It runs in a sandbox of
its own: it reads what strangers have written, and may itself be one that nobody has looked at.

The two conventions that are in use:

    icpc      checker INPUT ANSWER FEEDBACK_DIR FLAGS < OUTPUT    exits with 42 or 43
    testlib   checker INPUT OUTPUT ANSWER FLAGS                   exits with 0, 1, 2, 3 or 7
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from coderunner.build import Build
from coderunner.errors import JudgeFailed
from coderunner.judge.case import Case, Checked, NextPass, load
from coderunner.judge.verdict import Verdict, ending, shortened
from coderunner.language import Language
from coderunner.model import MIB, EndedBy, File, Limits, Outcome, Program, Result
from coderunner.runner import Runner

FOLDER = "judge"  # where its files lie, apart from those of its own
_INPUT, OUTPUT, _ANSWER = f"{FOLDER}/input", f"{FOLDER}/output", f"{FOLDER}/answer"
_FEEDBACK = f"{FOLDER}/feedback"
_SCORE, _SHARE = f"{_FEEDBACK}/score.txt", f"{_FEEDBACK}/score_multiplier.txt"
_MESSAGE, _TO_AUTHOR = f"{_FEEDBACK}/judgemessage.txt", f"{_FEEDBACK}/teammessage.txt"
_NEXT_PASS = f"{_FEEDBACK}/nextpass.in"
_KEEP = f"{_FEEDBACK}/.keep"  # an empty file, so that there is a directory

LIMITS = Limits(
    wall_ms=60_000,
    memory_mb=2048,
    processes=128,
    flood_bytes=8 * MIB,
    output_bytes=64 * 1024,
    disk_mb=256,
)
_LONGEST_MESSAGE = 8000
_LARGEST_SCORE = 1e9  # so that no sum of them is infinite
_POINTS = re.compile(r"points\s+([-+0-9.eE]+)")


class Convention(StrEnum):
    ICPC = "icpc"
    TESTLIB = "testlib"


@dataclass(frozen=True, slots=True)
class JudgeProgram:
    """A checker or an interactor: a program, and how one speaks with it."""

    program: Program
    convention: Convention = Convention.ICPC
    args: tuple[str, ...] = ()
    limits: Limits = LIMITS
    what: str = "checker"
    language: Language | None = None  # if it is one that the registry does not have
    passes: int = 1  # so often it may have the submission run, each time with what it has written


@dataclass(frozen=True, slots=True)
class Opened:
    """A judge's program that has been compiled."""

    described: JudgeProgram
    build: Build

    def args(self, case: Case) -> tuple[str, ...]:
        files = {
            Convention.ICPC: (_INPUT, _ANSWER, f"{_FEEDBACK}/"),
            Convention.TESTLIB: (_INPUT, OUTPUT, _ANSWER),
        }
        return (*files[self.described.convention], *self.described.args, *case.flags)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The files it may leave behind that mean something."""
        if self.described.convention is Convention.ICPC:
            return (f"{_FEEDBACK}/*" if self.described.passes == 1 else f"{_FEEDBACK}/**",)
        return (OUTPUT,) if self.described.what == "interactor" else ()

    def limits(self, files: Sequence[File], wall_ms: int | None = None) -> Limits:
        """With room for the files; rounded, so that one box is like the other."""
        limits = self.described.limits
        needed = sum(len(file.content) for file in files) // MIB + limits.disk_mb // 2
        disk_mb = max(limits.disk_mb, 1 << math.ceil(math.log2(needed + 1)))
        more = disk_mb - limits.disk_mb  # files in memory count as memory
        return limits.but(
            {
                "disk_mb": disk_mb,
                "memory_mb": limits.memory_mb + more,
                "wall_ms": wall_ms or limits.wall_ms,
            }
        )

    async def check(self, case: Case, output: bytes) -> Checked:
        by_file = self.described.convention is Convention.TESTLIB
        given = await files_for(case, output if by_file else None)
        result = await self.build.run(
            args=self.args(case),
            files=given,
            stdin=b"" if by_file else output,
            limits=self.limits(given),
            collect=self.leaves,
        )
        return self.verdict(result)

    def verdict(self, result: Result) -> Checked:
        """What the program said with its exit code and in the files that it wrote."""
        notes = {file.name: _text(file.content) for file in result.files}
        outcome = result.outcome
        if outcome.ended_by is not EndedBy.EXIT:
            return self.failed(outcome)
        assert outcome.exit_code is not None
        read = {Convention.ICPC: _icpc, Convention.TESTLIB: _testlib}[self.described.convention]
        checked = read(outcome.exit_code, outcome, notes) or self.failed(outcome)
        return checked if self.described.passes == 1 else _with_next(checked, result.files)

    def failed(self, outcome: Outcome) -> Checked:
        why = f"the {self.described.what} failed: {ending(outcome, self.described.limits)}"
        said = shortened(outcome.stderr.text.strip(), _LONGEST_MESSAGE)
        return Checked(Verdict.JUDGE_ERROR, message=f"{why}\n{said}".strip())


@asynccontextmanager
async def opened(runner: Runner, described: JudgeProgram) -> AsyncIterator[Opened]:
    async with runner.build(described.program, language=described.language) as build:
        if not build.ok:
            assert build.compilation is not None
            said = build.compilation.stderr.text or build.compilation.stdout.text
            raise JudgeFailed(
                f"the {described.what} does not compile:\n{shortened(said, _LONGEST_MESSAGE)}",
                hint=f"that is the {described.what}'s fault, not the submission's: mend it",
            )
        yield Opened(described, build)


async def files_for(case: Case, output: bytes | None = None) -> tuple[File, ...]:
    """What a judge's program finds beside it."""
    made = [File(_INPUT, await load(case.input)), File(_ANSWER, await load(case.answer))]
    if output is not None:
        made.append(File(OUTPUT, output))
    return (*made, *case.feedback, File(_KEEP, b""))


def _with_next(checked: Checked, files: Sequence[File]) -> Checked:
    """With what another pass begins with, if the program wants one."""
    following = next((file for file in files if file.name == _NEXT_PASS), None)
    if following is None:
        return checked
    if checked.verdict is not Verdict.ACCEPTED:
        return Checked(Verdict.JUDGE_ERROR, message="rejected, and another pass is asked for")
    kept = tuple(file for file in files if file.name not in (_NEXT_PASS, _KEEP))
    return replace(checked, next_pass=NextPass(following.content, kept))


def _icpc(code: int, outcome: Outcome, notes: Mapping[str, str]) -> Checked | None:
    verdict = {42: Verdict.ACCEPTED, 43: Verdict.WRONG_ANSWER}.get(code)
    if verdict is None:
        return None
    numbers = {name: _number(notes[name]) for name in (_SCORE, _SHARE) if name in notes}
    wrong = next((name for name, number in numbers.items() if number is None), None)
    if wrong is not None:
        why = f"the checker wrote a score that cannot be used: {notes[wrong][:80]!r}"
        return Checked(Verdict.JUDGE_ERROR, message=why)
    message = notes.get(_MESSAGE, "") or outcome.stderr.text.strip()
    return Checked(
        verdict,
        message=shortened(message, _LONGEST_MESSAGE),
        to_author=shortened(notes.get(_TO_AUTHOR, ""), _LONGEST_MESSAGE),
        score=numbers.get(_SCORE),
        share=numbers.get(_SHARE),
    )


def _testlib(code: int, outcome: Outcome, notes: Mapping[str, str]) -> Checked | None:
    """1 is a wrong answer, 2 one that is not even well-formed, 4 and 8 one that is too long or too
    short, 7 has its points in the message. 3 is the checker's own failure."""
    message = shortened(outcome.stderr.text.strip(), _LONGEST_MESSAGE)
    if code == 0:
        return Checked(Verdict.ACCEPTED, message=message)
    if code in (1, 2, 4, 8):
        return Checked(Verdict.WRONG_ANSWER, message=message)
    points = _POINTS.match(message) if code == 7 else None
    score = _number(points[1]) if points else None
    return None if score is None else Checked(Verdict.ACCEPTED, message=message, score=score)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) <= _LARGEST_SCORE else None  # which nan is not


def _text(content: bytes) -> str:
    return content[: 4 * _LONGEST_MESSAGE].decode("utf-8", "replace").strip()
