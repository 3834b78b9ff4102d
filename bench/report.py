"""From times to the table and the JSON: figures, ratios, and what is missing and why."""

from __future__ import annotations

import dataclasses
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from bench.lab import BARE, BUBBLEWRAP, LINUX
from bench.measure import Figures, Track, figures
from coderunner import __version__

_COLUMNS = {
    "runs": 4,
    "least": 6,
    "p50": 6,
    "p95": 6,
    "p99": 6,
    "to bare": 7,
    "over bare": 9,
    "to bwrap": 8,
}


@dataclass(frozen=True)
class Line:
    """One contender in one row. Without figures it says what is missing or went wrong."""

    contender: str
    figures: Figures | None = None
    missing: str = ""
    fix: str = ""
    failure: str = ""


@dataclass(frozen=True)
class Section:
    """One row of the bench with all its contenders, or none if nobody could take part."""

    name: str
    title: str
    lines: Sequence[Line]

    def p50(self, contender: str) -> float | None:
        found = (line.figures for line in self.lines if line.contender == contender)
        measured = next(found, None)
        return measured.p50 if measured else None

    def overhead(self, contender: str) -> float | None:
        """What it costs over the bare run, in ms."""
        own, bare = self.p50(contender), self.p50(BARE)
        return None if own is None or bare is None or contender == BARE else own - bare

    def times_bare(self, contender: str) -> float | None:
        return _ratio(self.p50(contender), self.p50(BARE))

    def times_bubblewrap(self, contender: str) -> float | None:
        """Its overhead in units of bubblewrap's overhead: below 1 is cheaper."""
        return _ratio(self.overhead(contender), self.overhead(BUBBLEWRAP))


def line(contender: str, track: Track) -> Line:
    """A contender that failed once has no figures: half a measurement is none."""
    if track.failure:
        return Line(contender, failure=track.failure)
    return Line(contender, figures(track.times_ms))


def failed(sections: Sequence[Section]) -> bool:
    return any(line.failure for section in sections for line in section.lines)


def tables(sections: Sequence[Section]) -> list[Table]:
    """One per row of the bench, all with the same columns, none wider than a small terminal."""
    return [_table(section) for section in sections]


def _table(section: Section) -> Table:
    made = Table(
        box=box.SIMPLE_HEAD,
        padding=0,
        title=f"{section.title} (ms)",
        title_justify="left",
    )
    made.add_column("", width=10)
    for heading, width in _COLUMNS.items():
        made.add_column(heading, justify="right", width=width, no_wrap=True)
    for entry in section.lines:
        made.add_row(*_cells(section, entry))
    return made


def _cells(section: Section, entry: Line) -> list[str | Text]:
    if entry.figures is None:
        return [entry.contender, Text("failed", "red") if entry.failure else "missing"]
    measured = entry.figures
    return [
        Text(entry.contender, style="green" if entry.contender == LINUX else ""),
        str(measured.count),
        *(_ms(value) for value in (measured.least, measured.p50, measured.p95, measured.p99)),
        _times(section.times_bare(entry.contender)),
        _ms(section.overhead(entry.contender)),
        _times(section.times_bubblewrap(entry.contender)),
    ]


def remarks(sections: Sequence[Section]) -> list[str]:
    """Below the table: what is missing with its remedy, what failed, and the headline."""
    said: list[str] = []
    for section in sections:
        for entry in section.lines:
            who = f"{section.title}: {entry.contender}"
            if entry.missing:
                said += [f"missing  {who}: {entry.missing}", f"         hint: {entry.fix}"]
            if entry.failure:
                said.append(f"failed   {who}: {entry.failure}")
        share = section.times_bubblewrap(LINUX)
        if share is not None:
            said.append(
                f"{section.title}: our sandbox costs {section.overhead(LINUX):.2f} ms over a bare "
                f"run, bubblewrap {section.overhead(BUBBLEWRAP):.2f} ms ({share:.2f} x as much)"
            )
    return said


def as_json(sections: Sequence[Section]) -> dict[str, Any]:
    """All times in ms. Ratios are what to track: machines differ."""
    return {
        "coderunner": __version__,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine(),
        "failed": failed(sections),
        "rows": [
            {"row": section.name, "title": section.title, **_line_json(section, entry)}
            for section in sections
            for entry in section.lines
        ],
    }


def _line_json(section: Section, entry: Line) -> dict[str, Any]:
    measured = dataclasses.asdict(entry.figures) if entry.figures else None
    return {
        "contender": entry.contender,
        "missing": entry.missing or None,
        "failure": entry.failure or None,
        "figures_ms": measured,
        "times_bare": section.times_bare(entry.contender),
        "overhead_ms": section.overhead(entry.contender),
        "overhead_times_bubblewrap": section.times_bubblewrap(entry.contender),
    }


def machine() -> Mapping[str, Any]:
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "root": os.geteuid() == 0,
        "load": round(os.getloadavg()[0], 2),
    }


def machine_line() -> str:
    facts = machine()
    who = "root" if facts["root"] else "an ordinary user"
    return (
        f"Linux {facts['kernel']}, {facts['machine']}, {facts['cpus']} cpus, "
        f"load {facts['load']}, Python {facts['python']}, as {who}"
    )


def _ratio(value: float | None, unit: float | None) -> float | None:
    return value / unit if value is not None and unit else None


def _ms(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} x"
