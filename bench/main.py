"""`make bench`: the command line, and the way from rows to a report."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench import report
from bench.lab import Contenders, Lab, Missing
from bench.measure import interleave
from bench.report import Line, Section
from bench.rows import ROWS, Row

_WARMUPS = 5
_QUICK_WARMUPS = 1


def main(arguments: Sequence[str]) -> int:
    """Exit code 0 unless something that is here failed to run."""
    options = _parser().parse_args(arguments)
    rows = [row for row in ROWS if not options.rows or row.name in options.rows]
    # The table is data and goes to stdout; the bar and all else go to stderr.
    out, err = Console(highlight=False), Console(stderr=True, highlight=False)
    sections = asyncio.run(_measure(rows, quick=options.quick, console=err))
    for table in report.tables(sections):
        out.print(table)
    out.print(report.machine_line())
    for remark in report.remarks(sections):
        out.print(remark, markup=False, soft_wrap=True)
    if options.json:
        text = json.dumps(report.as_json(sections), indent=2)
        options.json.write_text(text + "\n", encoding="utf-8")
        err.print(f"written to {options.json}", markup=False)
    return 1 if report.failed(sections) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench/run.py", description="What a sandbox costs, side by side in one run."
    )
    parser.add_argument("--quick", action="store_true", help="few rounds: a look, not a figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures here")
    names = [row.name for row in ROWS]
    parser.add_argument(
        "--rows", nargs="+", choices=names, metavar="ROW", help=f"only these: {', '.join(names)}"
    )
    return parser


async def _measure(rows: Sequence[Row], *, quick: bool, console: Console) -> list[Section]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        async with Lab() as lab:
            return [await _row(lab, row, quick=quick, progress=progress) for row in rows]


async def _row(lab: Lab, row: Row, *, quick: bool, progress: Progress) -> Section:
    task = progress.add_task(row.title)
    try:
        entered = await row.prepare(lab)
    except Missing as error:
        progress.update(task, total=0)
        return Section(row.name, row.title, [Line("all", missing=str(error), fix=error.fix)])
    rounds = row.quick_rounds if quick else row.rounds
    warmups = _QUICK_WARMUPS if quick else min(_WARMUPS, rounds // 2)
    runners = {name: run for name, run in entered.items() if not isinstance(run, Missing)}
    progress.update(task, total=(rounds + warmups) * len(runners))
    gc.collect()  # what preparing left behind is nobody's to pay for in mid-measurement
    tracks = await interleave(
        runners, rounds=rounds, warmups=warmups, tick=lambda: progress.advance(task)
    )
    lines = {name: report.line(name, track) for name, track in tracks.items()}
    return Section(row.name, row.title, [lines.get(n) or _absent(n, entered) for n in entered])


def _absent(name: str, entered: Contenders) -> Line:
    missing = entered[name]
    assert isinstance(missing, Missing)
    return Line(name, missing=str(missing), fix=missing.fix)
