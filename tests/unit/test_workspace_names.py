"""Names of files: the unsafe and the clashing are refused, the odd ones work."""

from __future__ import annotations

import pytest

from coderunner.errors import InvalidProgram
from coderunner.model import File
from coderunner.workspace import (
    Workspace,
    check_names,
)
from tests.unit.files import named

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "/etc/passwd",
        "..",
        "../x",
        "a/../b",
        "a/..",
        ".",
        "./a",
        "a/./b",
        "a//b",
        "a/",
        "a\0b",
        "a\\b",
        "..\\x",
        "x" * 256,
        "é" * 128,
        "/".join(["x" * 100] * 11),
        "\ud800",
        "a\udc80",
    ],
)
def test_unsafe_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidProgram) as caught:
        check_names(named("main.py", name))
    assert str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["a", "...", "..a", "a..", "-rf", " ", "a b/c d", "src/é.c", "line\nbreak", "x" * 255, "a:b"],
)
def test_odd_but_safe_names_work(name: str) -> None:
    check_names(named(name))
    with Workspace() as workspace:
        workspace.add([File(name, b"content")])
        assert (workspace.path / name).read_bytes() == b"content"


@pytest.mark.parametrize("names", [("a", "a"), ("a", "a/b"), ("a/b", "a"), ("a/b/c", "x", "a/b")])
def test_names_that_clash_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidProgram):
        check_names(named(*names))


def test_a_program_needs_files() -> None:
    with pytest.raises(InvalidProgram, match="at least one file"):
        check_names([])


def test_content_is_bytes() -> None:
    with pytest.raises(InvalidProgram, match="must be bytes") as caught:
        check_names([File("a.py", "print(1)")])  # type: ignore[arg-type]
    assert "encode" in caught.value.hint


def test_a_long_name_makes_a_short_message() -> None:
    with pytest.raises(InvalidProgram) as caught:
        check_names(named("x" * 1_000_000))
    assert len(str(caught.value)) < 300
