"""From results to the tables on the terminal: figures, ratios, what is missing and why."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from bench.results import BARE, OURS, Line, Results, Section
from bench.targets import TARGETS

_RUNS = ("runs", "least", "p50", "p95", "p99", "to bare", "over bare", "to bwrap")
_SUSTAINED = ("runs", "per s", "to bare", "p50", "p95", "p99")
_NARROWEST = 6
_COLOURS = {"met": "green", "not met": "red"}


def tables(results: Results) -> list[Table]:
    """One per row of the bench, none wider than a small terminal; the targets come last."""
    return [*(_table(section) for section in results.sections), targets_table(results)]


def _table(section: Section) -> Table:
    made = _new_table(f"{section.title} (ms)")
    made.add_column("", width=12)
    for heading in _SUSTAINED if section.parallel else _RUNS:
        made.add_column(heading, justify="right", width=max(_NARROWEST, len(heading)), no_wrap=True)
    for entry in section.lines:
        if not entry.missing:  # those are named below, once
            made.add_row(*_cells(section, entry))
    return made


def _cells(section: Section, entry: Line) -> list[str | Text]:
    if entry.figures is None:
        return [entry.contender, Text("failed", "red")]
    name = Text(entry.contender, style="green" if entry.contender in OURS else "")
    return [name, *(sustained_cells if section.parallel else run_cells)(section, entry)]


def run_cells(section: Section, entry: Line) -> list[str]:
    assert entry.figures is not None
    measured, who = entry.figures, entry.contender
    return [
        str(measured.count),
        *(ms(value) for value in (measured.least, measured.p50, measured.p95, measured.p99)),
        times(section.times_bare(who)),
        ms(section.overhead(who)),
        times(section.times_bubblewrap(who)),
    ]


def sustained_cells(section: Section, entry: Line) -> list[str]:
    assert entry.figures is not None
    measured = entry.figures
    return [
        str(measured.count),
        f"{entry.per_second or 0:.1f}",
        times(section.throughput_times_bare(entry.contender)),
        *(ms(value) for value in (measured.p50, measured.p95, measured.p99)),
    ]


def targets_table(results: Results) -> Table:
    made = _new_table("Targets")
    for heading in ("", "wanted", "reached", ""):
        made.add_column(heading, no_wrap=True)
    for target in TARGETS:
        verdict = target.verdict(results)
        colour = _COLOURS.get(verdict, "")
        made.add_row(target.title, target.wanted, target.reached(results), Text(verdict, colour))
    return made


def _new_table(title: str) -> Table:
    return Table(
        box=box.SIMPLE_HEAD,
        padding=0,
        pad_edge=False,
        title=title,
        title_justify="left",
    )


def remarks(results: Results) -> list[str]:
    """Below the tables: what failed, what was not as warm as it should be, what is missing and
    how to get it, and the machine."""
    lines = [(section, entry) for section in results.sections for entry in section.lines]
    said = [f"failed   {s.title}: {e.contender}: {e.failure}" for s, e in lines if e.failure]
    said += [note for section, entry in lines if (note := _cold_note(section, entry))]
    said += missing(lines)
    if memory := results.memory:
        said.append(
            f"{memory.title}: {memory.pss_mb:.1f} MB (PSS) in {memory.processes} processes, "
            f"{memory.private_mb:.1f} MB of it theirs alone"
        )
    said.append(machine_line(results))
    return said


def _cold_note(section: Section, entry: Line) -> str:
    """Cold runs among the warm ones are in their figures, and are said."""
    if not entry.warm or entry.figures is None or entry.warm == entry.figures.count:
        return ""
    count = entry.figures.count
    cold = f"{count - entry.warm} of {count} runs of {entry.contender} were cold"
    return f"note     {section.title}: {cold}"


def missing(lines: Sequence[tuple[Section, Line]]) -> list[str]:
    """Each thing once, however many rows lack it."""
    said: dict[str, str] = {}
    for section, entry in lines:
        if entry.missing:
            who = entry.contender if entry.contender != "all" else section.title
            said[f"missing  {who}: {entry.missing}"] = f"         hint: {entry.fix}"
    return [word for pair in said.items() for word in pair]


def machine_line(results: Results) -> str:
    facts = results.machine
    who = "root" if facts["root"] else "an ordinary user"
    return (
        f"{results.time}, CodeRunner {results.version}, Linux {facts['kernel']}, "
        f"{facts['machine']}, {facts['cpus']} cpus, load {facts['load']}, "
        f"Python {facts['python']}, as {who}" + (", --quick" if results.quick else "")
    )


def ms(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"


def times(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f} x" if value < 100 else f"{value:.0f} x"


def headline(section: Section, contender: str) -> float | None:
    """The ratio to a bare run that sums up a line: above 1 is slower, whatever was measured."""
    if contender == BARE:
        return None
    if section.parallel:
        more = section.throughput_times_bare(contender)
        return 1 / more if more else None
    return section.times_bare(contender)
