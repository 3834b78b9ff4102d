"""`coderunner token`: who may call the service from elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

Name = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="What to call it.", show_default=False)
]
List = Annotated[bool, typer.Option("--list", help="Show the names of those there are.")]
Revoke = Annotated[str | None, typer.Option("--revoke", metavar="NAME", help="Take this one away.")]


def token(name: Name = None, list_all: List = False, revoke: Revoke = None) -> int:
    """Make a token for a caller who is not on this machine, and print it, once.

    Its digest is kept in a file; a running service takes notice by itself. Callers send the token
    as `Authorization: Bearer TOKEN`.

    \b
    coderunner token laptop
    coderunner token --list
    coderunner token --revoke laptop
    """
    from coderunner.cli.options import settings_from
    from coderunner.errors import InvalidInput
    from coderunner.server import tokens

    file = settings_from(None, None).server.tokens_file
    if file is None:
        raise InvalidInput(
            "there is no home to keep tokens in", hint="set CODERUNNER_SERVER__TOKENS_FILE"
        )
    if list_all:
        typer.echo("".join(f"{known}\n" for known in tokens.read(file)), nl=False)
    elif revoke is not None:
        tokens.revoke(file, revoke)
    else:
        typer.echo(tokens.add(file, name or "default"))
    return 0
