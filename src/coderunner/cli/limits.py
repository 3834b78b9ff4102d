"""The limits' flags: one table, from which both the parsing and the words about a breach come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coderunner.cli import units
from coderunner.errors import InvalidLimits
from coderunner.model import EndedBy, Limits, Outcome


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag and the field of `Limits` that it sets."""

    field: str
    parse: Callable[[str], int | float]


FLAGS = {
    "--time": Flag("wall_ms", units.milliseconds),
    "--cpu-time": Flag("cpu_ms", units.milliseconds),
    "--memory": Flag("memory_mb", units.megabytes),
    "--processes": Flag("processes", units.count),
    "--output": Flag("flood_bytes", units.bytes_),
    "--keep": Flag("output_bytes", units.bytes_),
    "--disk": Flag("disk_mb", units.megabytes),
    "--files": Flag("files", units.count),
    "--open-files": Flag("open_files", units.count),
    "--stack": Flag("stack_mb", units.megabytes),
    "--cpus": Flag("cpus", units.cores),
    "--address-space": Flag("address_space_mb", units.megabytes),
}


def from_flags(given: Mapping[str, str | None]) -> Limits:
    """`given` has the texts by flag, None where the flag was not used."""
    values: dict[str, int | float] = {}
    for flag, text in given.items():
        if text is not None:
            values[FLAGS[flag].field] = _parse(flag, text)
    return Limits(**values)  # type: ignore[arg-type]  # each parser gives its field's type


def _parse(flag: str, text: str) -> int | float:
    try:
        return FLAGS[flag].parse(text)
    except units.BadQuantity as error:
        raise InvalidLimits(f"{flag} {text!r}: {error}", hint=error.hint) from None


def describe(outcome: Outcome, limits: Limits) -> tuple[str, str]:
    """For a run that did not end by itself: what stopped it, and the flag that allows more."""
    used = outcome.usage
    memory = f"{limits.memory_mb} MB of memory"
    breaches = {
        EndedBy.WALL_TIME: (f"it ran longer than {seconds(limits.wall_ms)}", "--time"),
        EndedBy.CPU_TIME: (f"it used more than {seconds(limits.cpu_ms or used.cpu_ms)} of cpu time",
                           "--cpu-time"),
        EndedBy.MEMORY: (f"it needed more than {memory}", "--memory"),
        EndedBy.PROCESSES: (f"it had more than {limits.processes} processes and threads at once",
                            "--processes"),
        EndedBy.OUTPUT: (f"it wrote more than {size(limits.flood_bytes)} to one stream",
                         "--output"),
        EndedBy.KILLED: ("it was killed", ""),
    }  # fmt: skip
    return breaches[outcome.ended_by]


def seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3g} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def size(count: int) -> str:
    """A size as its flag takes it, in the largest unit that fits."""
    for letter, unit in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if count >= unit:
            return f"{count / unit:.4g}{letter}"
    return f"{count} bytes"
