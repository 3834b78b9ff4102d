"""Options that several commands share, and the settings that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from coderunner.settings import Settings


def _language_names(incomplete: str) -> list[str]:
    from coderunner.language import Languages, user_language_dir

    own = user_language_dir()
    return [language.name for language in Languages([own] if own else [])]


def _engine_names(incomplete: str) -> list[str]:
    from coderunner.engines import ENGINES

    return ["auto", *ENGINES]


def _isolation_levels(incomplete: str) -> list[str]:
    from coderunner.model import Isolation

    return [level.value for level in Isolation]


Language = Annotated[
    str | None,
    typer.Option(
        "-l",
        "--language",
        metavar="NAME",
        help="The language; without it the main file's extension decides.",
        autocompletion=_language_names,
    ),
]
LanguageNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...",
        help="Show everything about these.",
        autocompletion=_language_names,
        show_default=False,
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="auto, linux (the embedded sandbox) or process (no protection).",
        autocompletion=_engine_names,
    ),
]
IsolationLevel = Annotated[
    str | None,
    typer.Option(
        "--isolation",
        metavar="LEVEL",
        help="Refuse anything weaker: none, sampled, full or vm. [default: sampled]",
        autocompletion=_isolation_levels,
    ),
]
Remote = Annotated[
    str | None,
    typer.Option(
        "--remote", metavar="URL", help="Ask the service there, such as http://127.0.0.1:8000."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


def check_remote(remote: str | None, **chosen: str | None) -> None:
    """What is a service's to choose."""
    from coderunner.errors import InvalidInput

    for name, value in chosen.items():
        if remote is not None and value is not None:
            raise InvalidInput(f"--{name} is for a run on this machine", hint="leave it out")


def settings_from(engine: str | None, isolation: str | None) -> Settings:
    """The environment's settings, and the flags on top."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from coderunner.errors import InvalidInput
    from coderunner.settings import Settings

    flags = {"engine": engine, "min_isolation": isolation}
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]  # pydantic checks what we pass
    except SettingsError as error:
        hint = 'tables are JSON: CODERUNNER_TOOLCHAINS=\'{"python": "/opt/py/bin/python3"}\''
        raise InvalidInput(f"a CODERUNNER_ variable: {error}", hint=hint) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = "__".join(map(str, first["loc"]))
        where = "--isolation" if name in given else f"CODERUNNER_{name.upper()}"
        raise InvalidInput(f"{where}: {first['msg']}, not {first['input']!r}") from None
