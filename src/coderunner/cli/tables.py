"""Tables for people, with rich. Piped, they are as wide as they need to be and have no frame."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coderunner.survey import Finding

_PIPED_WIDTH = 10_000  # no terminal, no margin to wrap at


def console() -> Console:
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def table(*headings: str) -> Table:
    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in headings:
        made.add_column(heading, overflow="fold")
    return made


def languages(findings: Sequence[Finding]) -> None:
    made = table("LANGUAGE", "ALIASES", "FILES", "VERSION", "WHERE")
    for finding in findings:
        language = finding.language
        made.add_row(
            language.name,
            " ".join(language.aliases),
            " ".join(language.extensions),
            _version(finding),
            _where(finding),
        )
    console().print(made)


def language_details(findings: Sequence[Finding]) -> None:
    out = console()
    for number, finding in enumerate(findings):
        language = finding.language
        if number:
            out.print()
        made = table(language.title, "")
        made.add_row("name", " ".join((language.name, *language.aliases)))
        made.add_row("files", " ".join(language.extensions))
        made.add_row("version", _version(finding))
        for row in _toolchain_rows(finding):
            made.add_row(*row)
        made.add_row("described in", language.origin)
        out.print(made)


def _toolchain_rows(finding: Finding) -> list[tuple[str, str]]:
    if finding.toolchain is None:
        assert finding.missing is not None
        return [("problem", finding.missing.message), ("install", finding.missing.hint)]
    shown = [("shown", str(mount.source)) for mount in finding.toolchain.mounts]
    return [*finding.toolchain.tools.items(), *shown]


def _version(finding: Finding) -> Text:
    if finding.toolchain is None:
        return Text("missing", style="yellow")
    return Text(finding.toolchain.version, style="green")


def _where(finding: Finding) -> str:
    if finding.toolchain is None:
        assert finding.missing is not None
        return finding.missing.hint
    return next(iter(finding.toolchain.tools.values()), "")
