"""Tables for people, with rich. Piped, they are as wide as they need to be and have no frame."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coderunner.doctor.report import Report
from coderunner.engines.base import State
from coderunner.survey import Finding

_STYLES = {State.ENFORCED: "green", State.SAMPLED: "yellow", State.ABSENT: "bold red"}
_PIPED_WIDTH = 10_000  # no terminal, no margin to wrap at


def show(*parts: Table | Text | str) -> None:
    """Print them one below the other. rich pads every line of a table; a pipe is spared that."""
    piped = not sys.stdout.isatty()
    console = Console(
        width=_PIPED_WIDTH if piped else None, highlight=False, markup=False, emoji=False
    )
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    lines = captured.get().splitlines()
    print(*(line.rstrip() if piped else line for line in lines), sep="\n")


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
    show(made)


def language_details(findings: Sequence[Finding]) -> None:
    parts: list[Table | str] = []
    for finding in findings:
        language = finding.language
        made = table(language.title, "")
        made.add_row("name", " ".join((language.name, *language.aliases)))
        made.add_row("files", " ".join(language.extensions))
        made.add_row("version", _version(finding))
        for row in _toolchain_rows(finding):
            made.add_row(*row)
        made.add_row("described in", language.origin)
        parts += [made, ""]
    show(*parts[:-1])


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


def report(found: Report) -> None:
    """The doctor's findings: the machine, the matrix, what would help, the conclusion."""
    machine = found.machine
    head = table("", "")
    head.show_header = False
    head.add_row("engine", found.engine)
    head.add_row("machine", f"Linux {machine.kernel} on {machine.architecture}, {machine.user}")
    head.add_row("cgroup", machine.cgroup)
    head.add_row("boxes", machine.boxes)
    head.add_row("landlock", f"ABI {machine.landlock_abi}" if machine.landlock_abi else "none")
    head.add_row("languages", _toolchains(found.toolchains))
    matrix: tuple[Table | str, ...] = (_matrix(found), "") if found.findings else ()
    show(head, "", *matrix, *_remedies(found), _conclusion(found))


def _toolchains(findings: Sequence[Finding]) -> str:
    here = [f"{f.language.name} {f.toolchain.version}" for f in findings if f.toolchain]
    missing = [f.language.name for f in findings if not f.toolchain]
    text = ", ".join(here) or "none found"
    return text + (f"; missing: {', '.join(missing)}" if missing else "")


def _matrix(found: Report) -> Table:
    made = table("CONTROL", "STATE", "TRIED")
    for finding in found.findings:
        state = Text(finding.state.value, style=_STYLES[finding.state])
        made.add_row(finding.name, state, finding.proof)
    return made


def _remedies(found: Report) -> list[str]:
    """What is not enforced and why, below what would help."""
    lines: dict[str, list[str]] = {}
    for finding in found.findings:
        if finding.state is not State.ENFORCED:
            reason = f": {finding.reason}" if finding.reason else ""
            lines.setdefault(finding.fix, []).append(f"  {finding.name}{reason}")
    return [line for fix, names in lines.items() for line in (f"fix: {fix}", *names, "")]


def _conclusion(found: Report) -> Text:
    if found.failure is not None:
        hint = f"\nhint: {found.failure.hint}" if found.failure.hint else ""
        return Text(f"error: {found.failure.message}{hint}", style="bold red")
    assert found.proven is not None
    claim = ""
    if found.proven is not found.claimed:
        claim = f" (the engine claims {found.claimed}: do not rely on it)"
    verdict = "meets" if found.ok else "does not meet"
    text = f"isolation {found.proven}{claim}: {verdict} the minimum, {found.wanted}"
    return Text(text, style="bold green" if found.ok else "bold red")
