"""What is made of a kernel's messages, whatever is in them."""

from __future__ import annotations

import base64
import sys
from typing import Any

import pytest

from coderunner import Stream, ToolchainMissing
from coderunner.notebook.kernel.specs import find_kernel
from coderunner.notebook.session.collecting import Collecting
from coderunner.notebook.session.result import CellResult

pytestmark = pytest.mark.unit


def collected(
    *messages: tuple[str, dict[str, Any]], most: int = 100, shown: int = 1000
) -> CellResult:
    collecting = Collecting(most, shown, 10_000)
    for kind, content in messages:
        collecting.take(kind, content)
    return collecting.result(None, duration_ms=0, alive=True)


def stream(text: object, name: str = "stdout") -> tuple[str, dict[str, Any]]:
    return "stream", {"name": name, "text": text}


def test_text_is_cut_between_characters() -> None:
    result = collected(stream("é" * 30), stream("é" * 30), stream("x"), most=101)
    assert result.stdout == "é" * 50
    assert result.error is not None
    assert (result.success, result.error.type) == (True, "output_limit")
    whole = collected(stream("x" * 100), most=100)
    assert (whole.stdout, whole.error) == ("x" * 100, None)


def test_what_is_new_is_what_a_reader_has_not_seen() -> None:
    collecting = Collecting(5, 1000, 10_000)
    new = [collecting.take(*stream(text)) for text in ("ab", "", "cdé", "f")]
    assert new == [(Stream.STDOUT, "ab"), None, (Stream.STDOUT, "cd"), None]


def test_a_flood_is_noticed() -> None:
    collecting = Collecting(5, 1000, 100)
    collecting.received(100)
    assert not collecting.flooded.is_set()
    collecting.received(1)
    assert collecting.flooded.is_set()


def test_images_are_bytes() -> None:
    png = base64.b64encode(b"\x89PNG").decode()
    shown = ("display_data", {"data": {"image/png": png, "text/plain": "<Figure>"}})
    value = ("execute_result", {"data": {"image/png": png}, "execution_count": 3})
    result = collected(shown, value)
    assert result.images == [b"\x89PNG", b"\x89PNG"]
    assert result.execution_count == 3


def test_what_is_shown_is_bounded() -> None:
    big = ("display_data", {"data": {"text/html": "x" * 900, "text/plain": "y" * 50}})
    result = collected(big, big)
    assert [(d.html is None, len(d.text)) for d in result.displays] == [(False, 50), (True, 50)]
    assert result.error is not None
    assert result.error.type == "output_limit"


NONSENSE: list[tuple[str, dict[str, Any]]] = [
    ("stream", {}),
    stream(7),
    stream("\ud800", name="stderr"),
    ("display_data", {"data": None}),
    ("display_data", {"data": {"image/png": 7, "text/plain": [1, "x"], "text/html": None}}),
    ("display_data", {"data": {"image/png": "é%"}, "transient": 1}),
    ("update_display_data", {"data": {}, "transient": {"display_id": "never seen"}}),
    ("execute_result", {"execution_count": "1"}),
    ("execute_input", {}),
    ("error", {}),
    ("error", {"ename": "\udfff", "evalue": [], "traceback": {}}),
    ("no such message", {}),
]


@pytest.mark.parametrize("message", NONSENSE, ids=str)
def test_nonsense_is_passed_over(message: tuple[str, dict[str, Any]]) -> None:
    result = collected(message, stream("goes on"))
    assert result.stdout == "goes on"
    CellResult.model_validate_json(result.model_dump_json())


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jupyter_client.kernelspec", None)
    with pytest.raises(ToolchainMissing, match="jupyter_client") as caught:
        find_kernel("python3")
    assert caught.value.hint == 'pip install "coderunner[notebook]"'
