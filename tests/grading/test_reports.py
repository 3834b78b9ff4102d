"""What is made of what comes from the box: only what is proven counts, and nothing grows."""

from __future__ import annotations

import pytest

from coderunner.grading.printed import Printed
from coderunner.grading.reports import Lines, Report, Reports, proof_of
from coderunner.model import Stream

pytestmark = pytest.mark.unit


def hexed(text: str) -> str:
    return text.encode().hex()


def proved(reports: Reports, said: str) -> bytes:
    return proof_of(said.encode(), reports.key) + b" " + said.encode()


@pytest.fixture
def reports() -> Reports:
    return Reports(Printed(100))


async def hear(reports: Reports, said: str) -> None:
    await reports(Stream.STDOUT, b"\n" + proved(reports, said) + b"\n")


async def test_a_result(reports: Reports) -> None:
    await hear(reports, f"result {hexed('#0')} failed 3 1.500 {hexed('why')}")
    assert reports.of == {"#0": Report("failed", "why", 3, 1.5)}


async def test_a_result_that_nobody_has_proven(reports: Reports) -> None:
    heard = proved(reports, "loaded").partition(b" ")[0].decode()
    for proof in ("", "0" * 64, "proof", heard, heard[:-1], reports.key.decode()):
        said = f"\n{proof} result {hexed('#0')} passed 1 0.000 -\n"
        await reports(Stream.STDOUT, said.encode())
        await reports(Stream.STDERR, said.encode())
    assert reports.of == {}


async def test_what_is_bad_stays_bad(reports: Reports) -> None:
    for status in ("passed", "failed", "passed", "error"):
        await hear(reports, f"result {hexed('#0')} {status} 1 0.000 -")
    assert reports.of["#0"].status == "failed"


@pytest.mark.parametrize(
    "said", ["result", "result 00 passed x y -", "result 00 passed 1 0 - -", "found 00", "started"]
)
async def test_what_is_proven_and_makes_no_sense(reports: Reports, said: str) -> None:
    await hear(reports, said)
    assert reports.of == {}


async def test_what_was_tripped_over_is_cut(reports: Reports) -> None:
    await reports(Stream.STDOUT, b"\ntripped " + b"61" * 10_000 + b"\n")
    assert reports.tripped == "a" * 200


async def test_byte_by_byte(reports: Reports) -> None:
    for byte in b"\n" + proved(reports, "loaded") + b"\n":
        await reports(Stream.STDOUT, bytes([byte]))
    assert reports.loaded


async def test_who_trips_needs_no_proof(reports: Reports) -> None:
    await reports(Stream.STDOUT, f"\ntripped {hexed('gc')}\n".encode())
    assert reports.tripped == "gc"


def test_lines_that_are_too_long_are_left_out() -> None:
    lines = Lines(5)
    assert list(lines.cut(b"12345\n123456\nab")) == [b"12345"]
    assert list(lines.cut(b"c" * 10_000)) == []
    assert list(lines.cut(b"c\nd\n")) == [b"d"]


def test_nothing_of_a_long_line_is_held() -> None:
    lines = Lines(5)
    for _ in range(1000):
        assert list(lines.cut(b"x" * 1000)) == []
    assert lines._parts == []


def test_what_is_printed_goes_to_the_mark_behind_it() -> None:
    printed = Printed(100)
    for chunk in (b"one", printed.mark[:5], printed.mark[5:] + b"61\ntwo" + printed.mark, b"62\nx"):
        printed.feed(chunk)
    assert printed.of == {"a": "one", "b": "two"}
    assert printed.rest == "x"


def test_printing_is_bounded() -> None:
    printed = Printed(10)
    for _ in range(1000):
        printed.feed(b"12345678")
    assert printed.rest == "1234567812"
    printed.feed(printed.mark + b"61\nmore" + printed.mark + b"62\n")
    assert printed.of == {"a": "1234567812"}
    assert len(printed._text) < 10_000


def test_no_character_is_cut_in_two() -> None:
    printed = Printed(4)
    printed.feed("aéé".encode() + printed.mark + b"61\n")
    assert printed.of == {"a": "aé"}
