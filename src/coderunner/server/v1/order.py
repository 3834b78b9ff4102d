"""What was asked for, checked against what this service allows, before anything waits or runs."""

from __future__ import annotations

from dataclasses import dataclass

from coderunner.errors import InvalidInput
from coderunner.language import Language
from coderunner.model import File, Limits, Program
from coderunner.recipe import check_args, check_env
from coderunner.runner import compile_limits_of
from coderunner.server.ceiling import SETTING, ceiling_of
from coderunner.server.service import Service
from coderunner.server.v1.asked import Base64, GivenLimits, RunRequest
from coderunner.workspace import check_names, check_patterns

USUAL = Limits()


@dataclass(frozen=True, slots=True)
class Order:
    language: Language
    program: Program
    limits: Limits
    compile_limits: Limits
    stdin: bytes
    collect: tuple[str, ...]
    collect_bytes: int


def order_of(
    asked: RunRequest,
    service: Service,
    *,
    usual: Limits = USUAL,
    ceiling: Limits | None = None,
) -> Order:
    """Raises InvalidInput, which says what is wrong."""
    language = service.runner.languages.get(asked.language)
    program = Program(language.name, _files(asked, language), tuple(asked.args), asked.env)
    check_names(program.files)
    check_args(program.args)
    check_env(program.env)
    check_patterns(asked.collect)
    mine = service.settings.server
    _check_allowed(asked.env, mine.allowed_env)
    ceiling = ceiling or ceiling_of(service.settings)
    return Order(
        language=language,
        program=program,
        limits=limits_within(ceiling, usual, asked.limits, "limits"),
        compile_limits=limits_within(
            ceiling, compile_limits_of(language), asked.compile_limits, "compile_limits"
        ),
        stdin=_data(asked.stdin),
        collect=tuple(asked.collect),
        collect_bytes=mine.answer_kb * 1024,
    )


def _files(asked: RunRequest, language: Language) -> tuple[File, ...]:
    code = [File(language.source, _data(asked.code))] if asked.has_code else []
    return (*code, *(File(file.name, file.data()) for file in asked.files))


def _data(given: str | Base64) -> bytes:
    return given.encode() if isinstance(given, str) else given.data()


def limits_within(ceiling: Limits, usual: Limits, given: GivenLimits, name: str) -> Limits:
    """The usual ones but for those that were given, in the field of this name. Only what somebody
    asked for can be too much."""
    lowered = usual.capped(ceiling)
    try:
        limits = lowered.but(given)
        limits.check_below(ceiling, setting=SETTING)
    except InvalidInput as error:
        raise type(error)(f"{name}.{error.message}", hint=error.hint) from None
    return limits


def _check_allowed(env: dict[str, str], allowed: list[str]) -> None:
    refused = sorted(env.keys() - set(allowed))
    if refused:
        raise InvalidInput(
            f"env.{refused[0]:.80} may not be set here",
            hint="this service allows " + (", ".join(allowed) or "none"),
        )
