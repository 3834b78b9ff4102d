"""`make demo`: a hello program in every language found here, each in a sandbox of its own."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coderunner import CodeRunnerError, Result, ToolchainMissing, run
from coderunner.language import Languages

YOUR_TURN = """\
Your turn:  .venv/bin/coderunner run -l python -c 'print(6 * 7)'
            echo 100 | .venv/bin/coderunner run examples/primes.cpp
            .venv/bin/coderunner doctor"""


def row(result: Result) -> tuple[str | Text, ...]:
    """What it said, and what that took."""
    outcome = result.outcome
    if result.ok:
        said = Text(result.stdout.strip(), style="green")
    else:
        said = Text(f"{outcome.ended_by.value}: {result.stderr[-300:].strip()}", style="red")
    memory = f"{outcome.usage.memory_peak_kb / 1024:.0f} MB"
    return said, f"{outcome.usage.wall_ms:.0f} ms", memory, outcome.isolation.value


def say_hello(table: Table) -> int:
    """Fill the table; the number of languages that are here and do not work."""
    failures = 0
    for language in Languages():
        try:
            result = run(language.hello, language=language.name)
        except ToolchainMissing as error:
            table.add_row(language.title, Text(f"missing: {error.hint}", style="yellow"))
            continue
        failures += not result.ok
        table.add_row(language.title, *row(result))
    return failures


def main() -> int:
    console = Console(highlight=False)
    table = Table(box=box.SIMPLE, title="Hello, each from its own sandbox")
    for heading in ("language", "it said", "time", "memory", "isolation"):
        table.add_column(heading, justify="right" if heading in {"time", "memory"} else "left")
    try:
        with console.status("running …"):
            failures = say_hello(table)
    except CodeRunnerError as error:
        print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
        return 3
    console.print(table)
    console.print(YOUR_TURN)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
