"""`coderunner doctor`: what protects you on this machine, proven by trying."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from coderunner.cli.options import AsJson, EngineName, IsolationLevel, settings_from

if TYPE_CHECKING:
    from coderunner.settings import Settings

Clean = Annotated[
    bool,
    typer.Option("--clean", help="Only remove what processes that are no more have left."),
]


def doctor(
    engine: EngineName = None,
    isolation: IsolationLevel = None,
    as_json: AsJson = False,
    clean: Clean = False,
) -> int:
    """Try every protection in throwaway sandboxes and say which hold.

    Each limit is broken, each wall run against. A control is `enforced` if its trial was refused
    or ended, `sampled` if it is held by watching and killing, `absent` if it is not held.
    Exits with 0 if the isolation asked for is met, with 3 if it is not.

    \b
    coderunner doctor
    coderunner doctor --isolation full
    coderunner doctor --engine process
    coderunner doctor --engine docker --clean
    """
    from coderunner.cli import exit_codes, interrupts, messages
    from coderunner.doctor import examine

    settings = settings_from(engine, isolation)
    if clean:
        return _clean(settings)
    if os.isatty(2) and not as_json:
        messages.notice("trying every control, this takes some seconds …")
    report = interrupts.run(examine(settings))
    if as_json:
        from coderunner.cli import as_json as json

        json.write(json.of_report(report))
    else:
        from coderunner.cli import tables

        tables.report(report)
    return 0 if report.ok else exit_codes.CANNOT_RUN_HERE


def _clean(settings: Settings) -> int:
    """Every engine does that by itself when it starts. This is for when none is to start again."""
    from coderunner.cli import interrupts, messages
    from coderunner.doctor import clean

    removed = interrupts.run(clean(settings))
    for what in removed:
        messages.notice(f"removed {what}")
    if not removed:
        messages.notice("nothing was left behind")
    return 0
