"""`make bench`: the command line, and the way from rows to a report."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from bench import docs, memory, plot, report, results
from bench.lab import Contenders, Lab
from bench.measure import Once, Track, interleave, sustain
from bench.results import Line, Memory, Results, Section
from bench.rows import ROWS, Row
from bench.sandboxes import Missing

_MEMORY = "memory"
_WARMUPS, _QUICK_WARMUPS = 5, 1
_SLICE_SECONDS, _QUICK_SLICE_SECONDS = 1.0, 0.3


def main(arguments: Sequence[str]) -> int:
    """Exit code 0 unless something that is here failed to run. A target that is not met is no
    failure of the bench."""
    options = _parser().parse_args(arguments)
    # The tables are data and go to stdout; the bar and all else go to stderr.
    out, err = Console(highlight=False), Console(stderr=True, highlight=False)
    if options.from_json:
        found = results.from_json(json.loads(options.from_json.read_text(encoding="utf-8")))
    else:
        found = asyncio.run(_measure(options.rows, quick=options.quick, console=err))
    for table in report.tables(found):
        out.print(table)
    for remark in report.remarks(found):
        out.print(remark, markup=False, soft_wrap=True)
    for file in _write(found, options):
        err.print(f"written: {file}", markup=False)
    return 1 if found.failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench/run.py", description="What a sandbox costs, side by side in one run."
    )
    names = [*(row.name for row in ROWS), _MEMORY]
    add = parser.add_argument
    add("--quick", action="store_true", help="few rounds: a look, not a figure")
    add("--rows", nargs="+", choices=names, metavar="ROW", help=f"only: {', '.join(names)}")
    add("--json", type=Path, metavar="FILE", help="also write all figures here")
    add("--plot", type=Path, metavar="FILE", help="also draw the ratios, as SVG")
    add("--from-json", type=Path, metavar="FILE", help="measure nothing, show what is in there")
    add("--write-docs", action="store_true", help=f"put tables and plot into {docs.PAGE.name}")
    return parser


def _write(found: Results, options: argparse.Namespace) -> list[Path]:
    written: list[Path] = []
    if options.json:
        text = json.dumps(results.as_json(found), indent=2) + "\n"
        options.json.write_text(text, encoding="utf-8")
        written.append(options.json)
    if options.plot:
        options.plot.write_text(plot.svg(found), encoding="utf-8")
        written.append(options.plot)
    return [*written, *docs.write(found)] if options.write_docs else written


async def _measure(names: Sequence[str] | None, *, quick: bool, console: Console) -> Results:
    rows = [row for row in ROWS if not names or row.name in names]
    machine, began = results.machine(), results.now()  # the load before we make some
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        async with Lab() as lab:
            sections = [await _row(lab, row, quick=quick, progress=progress) for row in rows]
            weighed = await _weigh(lab, progress) if not names or _MEMORY in names else None
    return Results(sections, weighed, machine, began, quick=quick)


async def _weigh(lab: Lab, progress: Progress) -> Memory | None:
    task = progress.add_task(memory.TITLE, total=1)
    weighed = await memory.measure(lab)
    progress.advance(task)
    return weighed


async def _row(lab: Lab, row: Row, *, quick: bool, progress: Progress) -> Section:
    task = progress.add_task(row.title, total=None)
    try:
        entered = await row.prepare(lab)
    except Missing as error:
        progress.update(task, total=0)
        absent = Line("all", missing=str(error), fix=error.fix)
        return Section(row.name, row.title, [absent], row.parallel)
    runners = {name: run for name, run in entered.items() if not isinstance(run, Missing)}
    gc.collect()  # what preparing left behind is nobody's to pay for in mid-measurement
    tracks = await _run_all(row, runners, quick, progress, task)
    lines = {name: results.line(name, track) for name, track in tracks.items()}
    all_of_them = [lines.get(name) or _absent(name, entered) for name in entered]
    return Section(row.name, row.title, all_of_them, row.parallel)


async def _run_all(
    row: Row, runners: Mapping[str, Once], quick: bool, progress: Progress, task: TaskID
) -> dict[str, Track]:
    rounds = row.quick_rounds if quick else row.rounds

    def tick() -> None:
        progress.advance(task)

    if row.parallel:
        seconds = _QUICK_SLICE_SECONDS if quick else _SLICE_SECONDS
        progress.update(task, total=(rounds + 1) * len(runners))
        return await sustain(
            runners, parallel=row.parallel, slices=rounds, seconds=seconds, tick=tick
        )
    warmups = _QUICK_WARMUPS if quick else min(_WARMUPS, max(1, rounds // 4))
    progress.update(task, total=(rounds + warmups) * len(runners))
    return await interleave(runners, rounds=rounds, warmups=warmups, tick=tick)


def _absent(name: str, entered: Contenders) -> Line:
    missing = entered[name]
    assert isinstance(missing, Missing)
    return Line(name, missing=str(missing), fix=missing.fix)
