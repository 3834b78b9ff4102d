"""What we want to be, beside what we are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.judge import TESTS
from bench.results import BARE, BUBBLEWRAP, LINUX, WARM, Results, ratio

Value = Callable[[Results], float | None]


@dataclass(frozen=True)
class Target:
    title: str
    bound: float
    unit: str  # of bound and value: "x", "ms" or "MB"
    of: str  # what the unit is, in words
    value: Value
    at_least: bool = False  # else at most

    @property
    def wanted(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{sign} {self.bound:g} {self.unit} {self.of}".strip()

    def met(self, results: Results) -> bool | None:
        """None if it was not measured."""
        value = self.value(results)
        if value is None:
            return None
        return value >= self.bound if self.at_least else value <= self.bound

    def reached(self, results: Results) -> str:
        value = self.value(results)
        if value is None:
            return ""
        return f"{value:.0f} {self.unit}" if value >= 100 else f"{value:.3g} {self.unit}"

    def verdict(self, results: Results) -> str:
        return {True: "met", False: "not met", None: "no data"}[self.met(results)]


def _to(row: str, ours: str, unit: str) -> Value:
    """Our p50 in units of another contender's, in the same row."""

    def value(results: Results) -> float | None:
        section = results.section(row)
        return ratio(section.p50(ours), section.p50(unit))

    return value


_ALLOWED_MS = 3  # what a test may cost beyond a bare run of the program


def _judged(results: Results) -> float | None:
    """A judge's run beside one compilation and a hundred bare runs, each a bit longer."""
    compiled, bare_run = results.section("cpp").p50(BARE), results.section("c").p50(BARE)
    if compiled is None or bare_run is None:
        return None
    allowed = compiled + TESTS * (bare_run + _ALLOWED_MS)
    return ratio(results.section("judge-in-turn").p50(LINUX), allowed)


TARGETS = (
    Target("Python hello, warm", 0.15, "x", "bare", _to("python", WARM, BARE)),
    Target(
        "the same, p99 at 4 at once",
        1,
        "x",
        "one bare run",
        lambda r: ratio(r.section("at-4").p99(WARM), r.section("python").p50(BARE)),
    ),
    Target(
        "the same, p99 at 4 at once",
        1,
        "x",
        "bare p99 at 4",
        lambda r: ratio(r.section("at-4").p99(WARM), r.section("at-4").p99(BARE)),
    ),
    Target("Python with numpy, preloaded", 0.05, "x", "bare", _to("numpy", WARM, BARE)),
    Target("C program, ready", 0.5, "x", "bubblewrap", _to("c", LINUX, BUBBLEWRAP)),
    Target(
        "C++ <bits/stdc++.h>, first time",
        0.5,
        "x",
        "bare g++ -O2 + run",
        _to("bits", LINUX, BARE),
    ),
    Target("the same program again", 10, "ms", "", lambda r: r.section("again").p50(LINUX)),
    Target("Java, compile and run", 0.7, "x", "bare", _to("java", LINUX, BARE)),
    Target("Go, compile and run", 1.1, "x", "bare, warm cache", _to("go", LINUX, BARE)),
    Target(
        "Python hellos/s, 4 at once",
        3,
        "x",
        "bare",
        lambda r: r.section("at-4").throughput_times_bare(WARM),
        at_least=True,
    ),
    Target(
        f"C++ against {TESTS} tests in turn",
        1,
        "x",
        f"one compilation and {TESTS} x (bare + {_ALLOWED_MS} ms)",
        _judged,
    ),
    Target("Python problem with asserts", 1, "x", "bare", _to("grading", WARM, BARE)),
    Target(
        "spawner and warm Python, idle",
        20,
        "MB",
        "(PSS)",
        lambda r: r.memory.pss_mb if r.memory else None,
    ),
)
