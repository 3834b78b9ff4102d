"""The nouns: what limits accept, how isolation levels compare, what a result says."""

from __future__ import annotations

import math
from dataclasses import fields

import pytest

from coderunner.errors import InvalidInput, InvalidLimits
from coderunner.model import (
    EndedBy,
    Isolation,
    Limits,
    Outcome,
    Output,
    Result,
    Terminal,
    Usage,
)

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("name", [item.name for item in fields(Limits)])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, -math.inf, True, "5", "", b"5", [5]])
def test_a_limit_is_a_number_above_zero(name: str, value: object) -> None:
    with pytest.raises(InvalidLimits, match=name):
        Limits(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("item", fields(Limits), ids=lambda item: item.name)
def test_only_some_limits_may_be_left_open(item: object) -> None:
    name, open_ended = item.name, "None" in item.type  # type: ignore[attr-defined]
    if open_ended:
        assert getattr(Limits().but({name: None}), name) is None
    else:
        with pytest.raises(InvalidLimits, match=name):
            Limits().but({name: None})


def test_a_fraction_is_for_cpus_only() -> None:
    assert Limits(cpus=0.5).cpus == 0.5
    with pytest.raises(InvalidLimits, match="whole number"):
        Limits(wall_ms=1.5)  # type: ignore[arg-type]


def test_the_ceiling() -> None:
    ceiling = Limits(wall_ms=1000, memory_mb=100)
    Limits(wall_ms=1000, memory_mb=100).check_below(ceiling)
    with pytest.raises(InvalidLimits, match="wall_ms=1001 is above") as caught:
        Limits(wall_ms=1001, memory_mb=100).check_below(ceiling)
    assert "CODERUNNER_CEILING__WALL_MS" in caught.value.hint


def test_isolation_levels_are_ordered() -> None:
    weakest_first = [Isolation.NONE, Isolation.SAMPLED, Isolation.FULL, Isolation.VM]
    for lower, level in enumerate(weakest_first):
        for other_place, other in enumerate(weakest_first):
            assert level.at_least(other) == (lower >= other_place)


def outcome(ended_by: EndedBy = EndedBy.EXIT, exit_code: int | None = 0) -> Outcome:
    usage = Usage(1.0, 1.0, 1)
    return Outcome(
        ended_by, exit_code, None, usage, Output(), Output(), Isolation.FULL, engine="fake"
    )


@pytest.mark.parametrize("ended_by", EndedBy)
def test_only_an_exit_with_0_is_ok(ended_by: EndedBy) -> None:
    assert outcome(ended_by, 0).ok == (ended_by is EndedBy.EXIT)
    assert not outcome(ended_by, 1).ok


def test_a_result_shows_the_last_thing_that_happened() -> None:
    compilation, execution = outcome(exit_code=1), outcome()
    assert Result(compilation, None).outcome is compilation
    assert Result(compilation, execution).outcome is execution
    assert not Result(compilation, None).ok
    assert Result(None, execution).ok


def test_output_that_is_no_utf8_is_still_text() -> None:
    assert Output(b"a\xff", b"b").text == "a\ufffdb"
    assert Output(b"a\xff", b"b").data == b"a\xffb"


@pytest.mark.parametrize("size", [0, -1, 65_536, 1.5, True, None, "80"])
def test_a_terminal_has_a_size(size: object) -> None:
    for name in ("rows", "columns"):
        with pytest.raises(InvalidInput, match="rows and columns"):
            Terminal(**{name: size})  # type: ignore[arg-type]
    assert (Terminal().rows, Terminal(columns=65_535).columns) == (24, 65_535)


@pytest.mark.parametrize("kind", ["", "a b", "x\0", "é", "x" * 65, "\x1b[m", 7, None])
def test_a_terminal_is_of_a_kind(kind: object) -> None:
    with pytest.raises(InvalidInput, match="kind of terminal"):
        Terminal(kind=kind)  # type: ignore[arg-type]
    assert Terminal(kind="screen.xterm-256color").kind == "screen.xterm-256color"


def test_limits_are_lowered_to_a_ceiling() -> None:
    ceiling = Limits(wall_ms=5, cpu_ms=7, memory_mb=1024)
    capped = Limits(wall_ms=10, memory_mb=16).capped(ceiling)
    assert (capped.wall_ms, capped.cpu_ms, capped.memory_mb, capped.cpus) == (5, 7, 16, None)
