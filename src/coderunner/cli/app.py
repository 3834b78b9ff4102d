"""The commands, put together."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from coderunner.cli.config import config
from coderunner.cli.doctor import doctor
from coderunner.cli.health import health
from coderunner.cli.judge import judge
from coderunner.cli.languages import languages
from coderunner.cli.run import run
from coderunner.cli.serve import serve
from coderunner.cli.token import token

# Plain help: greppable, quick, and the same on every terminal.
app = typer.Typer(name="coderunner", rich_markup_mode=None, no_args_is_help=True)
app.command("run")(run)
app.command("judge")(judge)
app.command("languages")(languages)
app.command("doctor")(doctor)
app.command("serve")(serve)
app.command("token")(token)
app.command("health")(health)
app.add_typer(config, name="config")


def _print_version(wanted: bool) -> None:
    if wanted:
        from coderunner import __version__

        typer.echo(f"coderunner {__version__}")
        raise typer.Exit


@app.callback()
def coderunner(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the whole traceback of an unexpected error.")
    ] = False,
    config_file: Annotated[
        str | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Take the settings of this file, not the user's. [env: CODERUNNER_CONFIG]",
        ),
    ] = None,
) -> None:
    """Run code you did not write, in a sandbox.

    \b
    coderunner run examples/primes.cpp < input.txt
    coderunner run -l python -c 'print(6 * 7)'
    coderunner judge problems/hello solution.py
    coderunner languages
    coderunner doctor
    coderunner config show
    """
    if config_file is not None:  # for all of us, and for whom we start
        os.environ["CODERUNNER_CONFIG"] = config_file
    if context.obj and context.invoked_subcommand != "run":
        from coderunner.errors import InvalidInput

        raise InvalidInput("only `run` takes arguments after --", hint="leave them out")
