"""The ratios as a picture: bars that begin at a bare run, to the left faster, to the right slower.

Plain SVG with its colours in a style sheet, so that it fits light and dark pages. The scale is
logarithmic: twice as fast and twice as slow are bars of the same length.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from bench import report
from bench.results import OURS, Results

_WIDTH, _LABELS, _RIGHT = 900, 290, 150
_TOP, _BOTTOM = 74, 26
_BAR, _GAP, _BETWEEN = 13, 3, 14
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 15px; font-weight: 600; }
.small { font-size: 11px; fill: #59636e; }
.grid { stroke: #d1d9e0; stroke-width: 1; opacity: 0.6; }
.one { stroke: #59636e; stroke-width: 1.5; }
.ours { fill: #1a7f37; }
.theirs { fill: #afb8c1; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9198a1; }
  .grid { stroke: #3d444d; }
  .one { stroke: #9198a1; }
  .ours { fill: #3fb950; }
  .theirs { fill: #656c76; }
}
"""


@dataclass(frozen=True)
class Bar:
    contender: str
    ratio: float


@dataclass(frozen=True)
class Group:
    title: str
    bars: Sequence[Bar]

    @property
    def height(self) -> int:
        return len(self.bars) * (_BAR + _GAP) + _BETWEEN


class Scale:
    """From ratios to places on the x axis."""

    def __init__(self, ratios: Sequence[float]) -> None:
        least, most = min([0.5, *ratios]), max([2.0, *ratios])
        self.ticks = [tick for tick in _TICKS if least / 2.5 < tick < most * 2.5]
        self._from = math.log(min(least, self.ticks[0]))
        self._to = math.log(max(most, self.ticks[-1]))

    def x(self, ratio: float) -> float:
        share = (math.log(ratio) - self._from) / (self._to - self._from)
        return round(_LABELS + share * (_WIDTH - _LABELS - _RIGHT), 1)


def groups(results: Results) -> list[Group]:
    made = []
    for section in results.sections:
        ratios = [
            (line.contender, report.headline(section, line.contender)) for line in section.lines
        ]
        bars = [Bar(contender, ratio) for contender, ratio in ratios if ratio]
        if bars:
            made.append(Group(section.title, bars))
    return made


def svg(results: Results) -> str:
    drawn = groups(results)
    scale = Scale([bar.ratio for group in drawn for bar in group.bars])
    height = _TOP + sum(group.height for group in drawn) + _BOTTOM
    parts = [*_frame(results, scale, height), *_groups(drawn, scale)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img">\n'
        f"<title>Time of a run, in units of a bare run</title>\n<style>{_STYLE}</style>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _frame(results: Results, scale: Scale, height: int) -> Iterator[str]:
    yield _text(12, 22, "Time of a run, in units of a bare run", "title")
    yield _text(12, 40, "to the left: faster than without any sandbox; green: our sandbox", "small")
    for tick in scale.ticks:
        x = scale.x(tick)
        kind = "one" if tick == 1 else "grid"
        yield f'<line class="{kind}" x1="{x}" y1="{_TOP - 6}" x2="{x}" y2="{height - _BOTTOM}"/>'
        yield _text(x, _TOP - 10, f"{tick:g} ×", "small", "middle")
    facts = f"{results.time[:10]}, {results.machine['cpus']} cpus, load {results.machine['load']}"
    yield _text(12, height - 8, f"median of each row; {facts}", "small")


def _groups(drawn: Sequence[Group], scale: Scale) -> Iterator[str]:
    y = _TOP + _BETWEEN // 2
    for group in drawn:
        middle = y + (group.height - _BETWEEN) / 2 + 4
        yield _text(_LABELS - 14, middle, group.title, "", "end")
        for number, bar in enumerate(group.bars):
            yield from _bar(bar, scale, y + number * (_BAR + _GAP))
        y += group.height


def _bar(bar: Bar, scale: Scale, y: int) -> Iterator[str]:
    """Its words stand to the right of it, and of the line at 1, where there is always room."""
    left, right = sorted((scale.x(1), scale.x(bar.ratio)))
    kind = "ours" if bar.contender in OURS else "theirs"
    width = max(1.0, round(right - left, 1))
    yield f'<rect class="{kind}" x="{left}" y="{y}" width="{width}" height="{_BAR}" rx="2"/>'
    words = f"{bar.ratio:.2f} × {bar.contender}"
    yield _text(right + 6, y + _BAR - 3, words, "small")


def _text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'
