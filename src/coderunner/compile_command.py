"""A language whose programs are compiled by another command than its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coderunner.errors import InvalidInput
from coderunner.language import Language
from coderunner.placeholders import FILE_NAMES, LIMIT_NAMES, problem


def compiled_by(language: Language, command: Sequence[str]) -> Language:
    """The same language. Whoever says the command says it for all programs, so that none of the
    language's variants has another."""
    if not language.compile:
        raise InvalidInput(f"{language.title} has no compiler that could be told what to do")
    made = {each.id for each in language.prepare}
    tools = {each.id for each in language.tools}
    known = tools | made | set(language.scripts) | LIMIT_NAMES | FILE_NAMES
    wrong = problem(command, known, lists=True) if command else "must not be empty"
    if wrong:
        raise InvalidInput(wrong, hint=f"its own command is {list(language.compile)}")
    variants = tuple(replace(variant, compile=None) for variant in language.variants)
    return replace(language, compile=tuple(command), variants=variants)
