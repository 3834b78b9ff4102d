"""Puts the tables and the plot of a bench into the documentation.

On the page they stand between two marks; what is around them is written by people and stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import plot, report
from bench.results import BARE, OURS, Line, Results, Section
from bench.targets import TARGETS

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN = "<!-- from here on: make bench ARGS=--write-docs -->"
END = "<!-- to here -->"
_VERDICTS = {"not met": "**not met**"}


class NoMarks(Exception):
    pass


def write(results: Results, page: Path = PAGE) -> list[Path]:
    """The files that were written."""
    picture = page.with_suffix(".svg")
    text = between_marks(page.read_text(encoding="utf-8"), "\n".join(tables(results)))
    picture.write_text(plot.svg(results), encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    return [page, picture]


def between_marks(text: str, new: str) -> str:
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise NoMarks(f"the page has no {BEGIN!r} followed by {END!r}")
    return f"{before}{BEGIN}\n\n{new}\n\n{END}{after}"


def tables(results: Results) -> Iterator[str]:
    yield f"Measured: {report.machine_line(results)}."
    if results.quick:
        yield "\n**A quick run: a look, not a figure.**"
    yield "\n![Ratios to a bare run](performance.svg)\n"
    yield from _targets(results)
    yield from _runs([section for section in results.sections if not section.parallel])
    yield from _sustained([section for section in results.sections if section.parallel])
    yield from _remarks(results)


def _targets(results: Results) -> Iterator[str]:
    yield "### Targets\n"
    yield "| | wanted | reached | |\n|---|---|--:|---|"
    for target in TARGETS:
        title, wanted = (_cell(words) for words in (target.title, target.wanted))
        said = target.verdict(results)
        verdict = _VERDICTS.get(said, said)
        yield f"| {title} | {wanted} | {target.reached(results)} | {verdict} |"


def _runs(sections: Sequence[Section]) -> Iterator[str]:
    yield "\n### One after the other\n"
    yield "| | runs | least ms | p50 | p95 | p99 | to bare | over bare | to bubblewrap |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for section, lines in _measured(sections):
        yield f"| **{_cell(section.title)}** |" + " |" * 8
        for line in lines:
            yield _row(line, report.run_cells(section, line))


def _sustained(sections: Sequence[Section]) -> Iterator[str]:
    if not sections:
        return
    yield "\n### Several at once, sustained\n"
    yield "| | runs | per second | to bare | p50 ms | p95 | p99 |\n|---|--:|--:|--:|--:|--:|--:|"
    for section, lines in _measured(sections):
        yield f"| **{_cell(section.title)}** |" + " |" * 6
        for line in lines:
            yield _row(line, report.sustained_cells(section, line))


def _measured(sections: Sequence[Section]) -> Iterator[tuple[Section, list[Line]]]:
    for section in sections:
        lines = [line for line in section.lines if line.figures is not None]
        if lines:
            yield section, lines


def _row(line: Line, cells: Sequence[str]) -> str:
    name = f"CodeRunner, `{line.contender}`" if line.contender in OURS else line.contender
    name = "bare (no walls)" if line.contender == BARE else name
    return f"| {name} | " + " | ".join(cells) + " |"


def _remarks(results: Results) -> Iterator[str]:
    said = report.remarks(results)[:-1]  # the last one is the machine, which was said
    if said:
        yield "\n```text"
        yield from said
        yield "```"


def _cell(words: str) -> str:
    return words.replace("<", "&lt;").replace("|", "\\|")
