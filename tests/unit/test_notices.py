"""What is told to somebody who waits, in lines and on a terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import sys
from collections.abc import Iterator

import pytest

from coderunner.cli import bar, messages
from coderunner.engines.docker.pulling import Layers, split
from coderunner.notices import Progress, in_lines

MIB = 1 << 20
CLEARED = "\r\x1b[2K"


def at(percent: int) -> Progress:
    return Progress("pulling it", percent * MIB, 100 * MIB)


def test_lines_tell_every_quarter_once() -> None:
    heard: list[str] = []
    tell = in_lines(heard.append)
    tell("pulling it …")
    for percent in (0, 10, 24, 26, 30, 24, 60, 74, 75, 99, 100, 100):
        tell(at(percent))
    assert heard == [
        "pulling it …",
        *(f"pulling it: {percent}% of 100 MB" for percent in (26, 60, 75, 100)),
    ]


def test_small_things_have_a_size_too() -> None:
    assert str(Progress("it", 1, 2000)) == "it: 0% of 2 kB"
    assert Progress("it", 0, 0).percent == 0


@contextlib.contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """stderr is one. What is written to it can be read here."""
    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as stderr, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stderr)
        patch.setenv("TERM", "xterm")
        patch.setenv("COLUMNS", "80")
        yield ours
    os.close(ours)


def said(terminal: int, until: str) -> str:
    text = ""
    while until not in text:
        text += os.read(terminal, 65536).decode()
    return text


def test_on_a_terminal_a_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    cleared: list[None] = []
    tell = messages.news(before=lambda: cleared.append(None))
    with terminal(monkeypatch) as end:
        tell(at(10))
        assert "\n" not in said(end, "10% of 100 MB")
        tell(at(11))
        assert CLEARED in said(end, "11% of 100 MB")
        messages.error("something else")
        assert CLEARED in said(end, "something else")
        tell(at(50))
        assert CLEARED not in said(end, "50% of 100 MB")
        tell(at(100))
        assert "100" not in said(end, CLEARED)
    assert len(cleared) == 4


def test_no_bar_where_nobody_draws(capsys: pytest.CaptureFixture[str]) -> None:
    assert not bar.can_be_drawn()
    tell = messages.news()
    for percent in range(101):
        tell(at(percent))
    assert capsys.readouterr().err.splitlines() == [
        f"pulling it: {percent}% of 100 MB" for percent in (25, 50, 75, 100)
    ]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("python", ("python", "latest")),
        ("python:3.12", ("python", "3.12")),
        ("host:5000/python", ("host:5000/python", "latest")),
        ("host:5000/python:3.12", ("host:5000/python", "3.12")),
        ("python@sha256:12", ("python@sha256:12", None)),
        ("host:5000/python:3.12@sha256:12", ("host:5000/python@sha256:12", None)),
    ],
)
def test_names_of_images(name: str, parts: tuple[str, str | None]) -> None:
    assert split(name) == parts


def event(status: str, layer: str, current: int = 0, total: int = 0) -> dict[str, object]:
    detail = {"current": current, "total": total} if total else {}
    return {"status": status, "id": layer, "progressDetail": detail}


def test_progress_over_layers() -> None:
    layers = Layers("it")
    told = []
    for one in [
        event("Pulling from tests", "latest"),
        event("Pulling fs layer", "a"),
        event("Pulling fs layer", "b"),
        event("Pulling fs layer", "tiny"),
        event("Downloading", "a", 50, 100),
        event("Download complete", "tiny"),
        event("Pull complete", "tiny"),
        event("Downloading", "b", 0, 300),
        event("Download complete", "a"),
        event("Extracting", "a", 50, 100),
        event("Pull complete", "a"),
        event("Download complete", "b"),
        event("Extracting", "b", 150, 300),
        event("Pull complete", "b"),
    ]:
        layers.note(one)
        told.append((layers.progress.done, layers.progress.total))
    assert told[4] == (25, 300)  # what has not begun is taken to be as large
    assert told[6] == (25, 200)
    assert told[7:] == [
        (25, 400), (50, 400), (75, 400), (100, 400), (250, 400), (325, 400), (400, 400)
    ]  # fmt: skip
