"""A checker's program as it is written down in a request: text, by names that JSON knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from coderunner.errors import InvalidInput
from coderunner.judge.checkers.program import Convention, JudgeProgram
from coderunner.judge.strictness import STRICT, Lenient
from coderunner.language import Languages
from coderunner.model import File, Program
from coderunner.text import as_bytes


@dataclass(frozen=True, slots=True)
class CheckerProgram:
    """A program of yours that decides. `icpc`: it gets the names of the input, of the answer and of
    a directory for feedback, reads the output from stdin and exits with 42 (right) or 43 (wrong).
    `testlib`: it gets the names of input, output and answer and exits as testlib's checkers do."""

    __pydantic_config__: ClassVar = STRICT

    code: str
    language: str
    convention: Lenient[Convention] = Convention.ICPC
    args: Lenient[tuple[str, ...]] = ()
    files: Mapping[str, str] = field(default_factory=dict)  # beside it: testlib.h, say
    kind: Literal["program"] = "program"

    def as_program(self, languages: Languages) -> JudgeProgram:
        return judge_program(self, languages, "checker")


@dataclass(frozen=True, slots=True)
class Interactor:
    """A program of yours that the submission speaks with: what the one prints, the other reads. Its
    arguments and exit codes are those of a checker; there is no file with an output."""

    __pydantic_config__: ClassVar = STRICT

    code: str
    language: str
    convention: Lenient[Convention] = Convention.ICPC
    args: Lenient[tuple[str, ...]] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    def as_program(self, languages: Languages) -> JudgeProgram:
        return judge_program(self, languages, "interactor")


def judge_program(
    written: CheckerProgram | Interactor, languages: Languages, what: str
) -> JudgeProgram:
    if not written.code.strip():
        raise InvalidInput(f"the {what} has no code")
    source = languages.get(written.language).source
    main = File(source, as_bytes(written.code, f"the {what}'s code"))
    others = (File(name, as_bytes(text, name)) for name, text in written.files.items())
    program = Program(written.language, (main, *others))
    return JudgeProgram(program, Convention(written.convention), tuple(written.args), what=what)
