"""What a bench found out: rows with their contenders, what they are worth as ratios, and the way
to JSON and back. Nothing here measures or prints."""

from __future__ import annotations

import dataclasses
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.measure import Figures, Track, figures
from coderunner import __version__

BARE, BUBBLEWRAP, PROCESS = "bare", "bubblewrap", "process"
LINUX, COLD, WARM = "linux", "linux cold", "linux warm"
APART = "two boxes"
NSJAIL, ISOLATE = "nsjail", "isolate"
DOCKER_EXEC, DOCKER_RUN = "docker exec", "docker run"
OURS = (LINUX, COLD, WARM, APART)

# Now and then an interpreter is replaced, and the runs in between are cold. That is part of what
# callers get. More of them, and it is no longer warm runs that were measured.
_MOST_COLD = 0.05


@dataclass(frozen=True)
class Line:
    """One contender in one row. Without figures it says what is missing or went wrong."""

    contender: str
    figures: Figures | None = None
    per_second: float | None = None  # sustained; None where runs were measured one by one
    warm: int = 0  # runs in a warm interpreter
    missing: str = ""
    fix: str = ""
    failure: str = ""


@dataclass(frozen=True)
class Section:
    """One row of the bench with all its contenders, or none if nobody could take part."""

    name: str
    title: str
    lines: Sequence[Line]
    parallel: int = 0  # how many at once, in rows that measure what can be sustained

    def figures(self, contender: str) -> Figures | None:
        return next((line.figures for line in self.lines if line.contender == contender), None)

    def p50(self, contender: str) -> float | None:
        found = self.figures(contender)
        return found.p50 if found else None

    def p99(self, contender: str) -> float | None:
        found = self.figures(contender)
        return found.p99 if found else None

    def per_second(self, contender: str) -> float | None:
        return next((line.per_second for line in self.lines if line.contender == contender), None)

    def overhead(self, contender: str) -> float | None:
        """What it costs over the bare run, in ms."""
        own, bare = self.p50(contender), self.p50(BARE)
        return None if own is None or bare is None or contender == BARE else own - bare

    def times_bare(self, contender: str) -> float | None:
        return ratio(self.p50(contender), self.p50(BARE))

    def times_bubblewrap(self, contender: str) -> float | None:
        return ratio(self.p50(contender), self.p50(BUBBLEWRAP))

    def throughput_times_bare(self, contender: str) -> float | None:
        return ratio(self.per_second(contender), self.per_second(BARE))


@dataclass(frozen=True)
class Memory:
    """What idle processes weigh. Pages that others use, too, count by their share (PSS)."""

    title: str
    processes: int
    pss_mb: float
    private_mb: float  # what would be free if they ended


@dataclass(frozen=True)
class Results:
    sections: Sequence[Section]
    memory: Memory | None
    machine: Mapping[str, Any]
    time: str
    version: str = __version__
    quick: bool = False

    def section(self, name: str) -> Section:
        """The row of that name; an empty one if it was not measured."""
        return next((s for s in self.sections if s.name == name), Section(name, name, ()))

    @property
    def failed(self) -> bool:
        return any(line.failure for section in self.sections for line in section.lines)


def ratio(value: float | None, unit: float | None) -> float | None:
    return value / unit if value is not None and unit else None


def line(contender: str, track: Track) -> Line:
    """A contender that failed once has no figures: half a measurement is none."""
    failure = track.failure or _wrong_temperature(contender, track)
    if failure:
        return Line(contender, failure=failure)
    return Line(contender, figures(track.times_ms), track.per_second, warm=track.warm)


def _wrong_temperature(contender: str, track: Track) -> str:
    count = len(track.times_ms)
    if contender == WARM and count - track.warm > _MOST_COLD * count:
        return f"{count - track.warm} of {count} runs were cold"
    if contender != WARM and track.warm:
        return f"{track.warm} of {count} runs were warm, and none should be"
    return ""


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def machine() -> dict[str, Any]:
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "root": os.geteuid() == 0,
        "load": round(os.getloadavg()[0], 2),
    }


def as_json(results: Results) -> dict[str, Any]:
    """All times in ms. Ratios are what to track: machines differ."""
    return {
        "coderunner": results.version,
        "time": results.time,
        "machine": dict(results.machine),
        "quick": results.quick,
        "failed": results.failed,
        "memory": dataclasses.asdict(results.memory) if results.memory else None,
        "rows": [
            {
                "row": section.name,
                "title": section.title,
                "parallel": section.parallel,
                "lines": [_line_json(section, entry) for entry in section.lines],
            }
            for section in results.sections
        ],
    }


def _line_json(section: Section, entry: Line) -> dict[str, Any]:
    """What was measured, and the ratios for those who track them. Only the former is read back."""
    return {
        **dataclasses.asdict(entry),
        "ratios": {
            "times_bare": section.times_bare(entry.contender),
            "times_bubblewrap": section.times_bubblewrap(entry.contender),
            "throughput_times_bare": section.throughput_times_bare(entry.contender),
        },
    }


def from_json(data: Mapping[str, Any]) -> Results:
    return Results(
        sections=[
            Section(row["row"], row["title"], [*map(_line_from, row["lines"])], row["parallel"])
            for row in data["rows"]
        ],
        memory=Memory(**data["memory"]) if data["memory"] else None,
        machine=data["machine"],
        time=data["time"],
        version=data["coderunner"],
        quick=data["quick"],
    )


def _line_from(data: Mapping[str, Any]) -> Line:
    fields = {name: value for name, value in data.items() if name != "ratios"}
    fields["figures"] = Figures(**data["figures"]) if data["figures"] else None
    return Line(**fields)
