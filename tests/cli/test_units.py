"""Durations, sizes and counts as people type them."""

from __future__ import annotations

import pytest

from coderunner.cli import units
from coderunner.cli.limits import FLAGS, from_flags
from coderunner.errors import InvalidLimits
from coderunner.model import Limits

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("2", 2000), ("2s", 2000), ("1.5s", 1500), ("500ms", 500), ("2m", 120_000), ("0.1", 100),
     ("0.5m", 30_000), ("0.001s", 1), (" 3s ", 3000), ("1.25s", 1250)],
)  # fmt: skip
def test_durations(text: str, milliseconds: int) -> None:
    assert units.milliseconds(text) == milliseconds


@pytest.mark.parametrize(
    ("text", "count"),
    [("128M", 128 << 20), ("128MB", 128 << 20), ("128MiB", 128 << 20), ("128m", 128 << 20),
     ("1G", 1 << 30), ("512K", 512 << 10), ("64kb", 64 << 10), ("100B", 100), ("7", 7 << 20),
     ("1.5M", 3 << 19)],
)  # fmt: skip
def test_sizes(text: str, count: int) -> None:
    assert units.bytes_(text) == count


def test_counts_and_cores() -> None:
    assert units.count("32") == 32
    assert units.cores("0.5") == 0.5
    assert units.megabytes("1G") == 1024


JUNK = ["", " ", "0", "0s", "0.0M", "-1", "-1s", "+1", "nan", "inf", "1e3", "0x10", "1,5", "1..5",
        ".5", "5.", "s", "M", "2 s", "2ss", "2h", "2Mi", "2T", "\u0661", "1_000", "9" * 30,
        "1.5ms5", "1\n2", "two"]  # fmt: skip


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("text", JUNK)
def test_junk_is_refused_and_explained(flag: str, text: str) -> None:
    with pytest.raises(InvalidLimits) as caught:
        from_flags({flag: text})
    assert caught.value.message.startswith(flag)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("flag", "text"),
    [("--memory", "512K"), ("--memory", "1.5M"), ("--disk", "1000000B"), ("--time", "0.5ms"),
     ("--time", "0.0001s"), ("--output", "0.5B"), ("--processes", "1.5"), ("--stack", "1B"),
     ("--time", "2M"), ("--time", "2S"), ("--processes", "3M"), ("--cpus", "2s")],
)  # fmt: skip
def test_what_does_not_fit_the_unit_is_refused(flag: str, text: str) -> None:
    with pytest.raises(InvalidLimits, match=r"whole|unit|belong"):
        from_flags({flag: text})


def test_every_limit_has_a_flag() -> None:
    assert {flag.field for flag in FLAGS.values()} == {*Limits.__dataclass_fields__}


def test_flags_that_are_not_given_leave_the_default() -> None:
    assert from_flags(dict.fromkeys(FLAGS)) == Limits()
    assert from_flags({"--time": "2s", "--memory": None}) == Limits(wall_ms=2000)
