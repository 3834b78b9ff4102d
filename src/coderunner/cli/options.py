"""Options that several commands share, and the settings that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def settings_from(
    engine: str | None, isolation: str | None, server: Mapping[str, object] | None = None
) -> Settings:
    """The environment's settings, and the flags on top."""
    from coderunner.settings import Settings

    flags = {"engine": engine, "min_isolation": known_level(isolation), "server": server}
    return Settings(**{name: value for name, value in flags.items() if value is not None})  # type: ignore[arg-type]  # each is of its field's type


def known_level(isolation: str | None) -> str | None:
    known = _isolation_levels("")
    if isolation is None or isolation in known:
        return isolation
    from coderunner.errors import InvalidInput

    raise InvalidInput(f"--isolation must be {', '.join(known)}, not {isolation!r}")
