"""`coderunner config`: the settings that hold, and where each comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from coderunner.cli.options import AsJson

if TYPE_CHECKING:
    from coderunner.settings.effective import Effective

config = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


def _keys(incomplete: str) -> list[str]:
    from coderunner.settings import Settings
    from coderunner.settings.keys import all_keys, dotted

    return [dotted(key) for key in all_keys(Settings)]


@config.callback()
def group() -> None:
    """Show the settings."""


@config.command("show")
def show(
    key: Annotated[
        str,
        typer.Argument(
            metavar="[KEY]",
            help="Only this one, or this section.",
            autocompletion=_keys,
            show_default=False,
        ),
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Show what is set, and where: by default, by a variable, in a file.

    \b
    coderunner config show
    coderunner config show docker.runtime
    coderunner config show server --json
    """
    from coderunner.settings.effective import effective

    found = effective(key)
    if as_json:
        from coderunner.cli import as_json as json

        json.write({"settings": [json.of_setting(each) for each in found]})
    else:
        _show(found)
    return 0


@config.command("path")
def path() -> int:
    """Show which files are looked for; the first that has a setting wins."""
    from coderunner.cli import tables
    from coderunner.settings.files import looked_for

    made = tables.table("FILE", "")
    for each in looked_for():
        made.add_row(str(each), "" if each.exists() else "not there")
    tables.show(made)
    return 0


def _show(found: list[Effective]) -> None:
    from coderunner.cli import tables

    made = tables.table("KEY", "FROM", "VALUE")
    for each in found:
        made.add_row(each.key, each.origin, _text(each.value))
    tables.show(made)


def _text(value: object) -> str:
    """As a variable would have it; `-` where there is nothing."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(str, value)) or "-"
    return "-" if value in (None, "", {}) else str(value)
