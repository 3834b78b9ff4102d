"""`coderunner languages`: what can be run here, and how to get the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from coderunner.cli.options import AsJson, LanguageNames, settings_from

if TYPE_CHECKING:
    from coderunner.settings import Settings
    from coderunner.survey import Finding


def languages(
    names: LanguageNames = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show everything about every language.")
    ] = False,
    prepare: Annotated[
        bool,
        typer.Option(
            "--prepare", help="Make ready what compilers are faster with; takes up to a minute."
        ),
    ] = False,
    as_json: AsJson = False,
) -> int:
    """List the languages, with the version that is installed or the way to get one.

    \b
    coderunner languages
    coderunner languages rust
    coderunner languages --prepare
    coderunner languages --json
    """
    from coderunner.cli import interrupts

    settings = settings_from(None, None)
    findings = interrupts.run(_survey(names or [], settings))
    if prepare:
        interrupts.run(_prepare(findings, settings))
    if as_json:
        from coderunner.cli import as_json as json

        json.write({"languages": [json.of_finding(finding) for finding in findings]})
    else:
        from coderunner.cli import tables

        show = tables.language_details if names or everything else tables.languages
        show(findings)
    return 0


async def _survey(names: list[str], settings: Settings) -> list[Finding]:
    from coderunner.survey import survey
    from coderunner.toolchain import Toolchains

    known = settings.languages()
    wanted = [known.get(name) for name in names] or list(known)
    return await survey(wanted, Toolchains(settings.toolchains))


async def _prepare(findings: list[Finding], settings: Settings) -> None:
    from coderunner.cli import messages
    from coderunner.runner import Runner

    async with Runner.open(settings, notice=messages.news()) as runner:
        for finding in findings:
            if finding.toolchain is not None:
                await runner.prepare(finding.language.name)
