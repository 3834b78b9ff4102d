"""What is made of a kernel's messages, whatever is in them."""

from __future__ import annotations

import base64
import sys
from typing import Any

import pytest

from coderunner import Stream, ToolchainMissing
from coderunner.notebook.kernel.specs import find_kernel
from coderunner.notebook.session.collecting import Collecting
from coderunner.notebook.session.messages import is_too_much
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


CLEAR = ("clear_output", {"wait": False})
CLEAR_LATER = ("clear_output", {"wait": True})
SHOWN = ("display_data", {"data": {"text/plain": "shown"}})


def test_what_is_cleared() -> None:
    assert collected(stream("a"), SHOWN, CLEAR).stdout == ""
    kept = collected(stream("a"), SHOWN, CLEAR_LATER)
    assert (kept.stdout, [d.text for d in kept.displays]) == ("a", ["shown"])
    replaced = collected(stream("a"), SHOWN, CLEAR_LATER, ("status", {}), stream("b"), stream("c"))
    assert (replaced.stdout, replaced.displays) == ("bc", [])
    shown = collected(stream("a"), CLEAR_LATER, CLEAR_LATER, SHOWN)
    assert (shown.stdout, len(shown.displays)) == ("", 1)


def test_an_error_that_only_the_reply_tells() -> None:
    reply = {"status": "error", "ename": "E", "evalue": "why", "traceback": ["t"]}
    told = collected(("execute_reply", reply)).error
    assert told is not None
    assert (told.type, told.message, told.traceback) == ("runtime_error", "E: why", "t")
    both = collected(("error", {"ename": "F"}), ("execute_reply", reply)).error
    assert both is not None
    assert both.message == "F"
    assert collected(("execute_reply", {"status": "ok"})).success


def test_many_small_values_take_much_room() -> None:
    def shown(form: object) -> CellResult:
        return collected(("display_data", {"data": {"a": form}}), shown=10_000)

    assert shown([{}] * 100).displays[0].data == {"a": [{}] * 100}
    many = shown([{}] * 1000)
    assert many.displays[0].data == {}
    assert many.error is not None
    assert many.error.type == "output_limit"
    texts = {str(n): "" for n in range(1000)}
    kept = collected(("display_data", {"data": texts}), shown=10_000)
    assert len(kept.displays[0].data) < 400


@pytest.mark.parametrize(
    ("text", "much"),
    [
        (b'{"a":[' + b"{}," * 500_000 + b"0]}", True),
        (b"{" + b'"a":"",' * 600_000 + b'"b":1}', True),
        (b"[" + b'"\\\\",' * 600_000 + b"1]", True),
        (b"[" * 600_000, True),
        (b'{"a":"' + b"1,2,{[" * 200_000 + b'"}', False),
        (b'{"a":"' + b'\\",' * 600_000 + b'"}', False),
        (b'{"a":' + b"[1,2,3]" + b"}", False),
    ],
)
def test_messages_that_would_fill_us(text: bytes, much: bool) -> None:
    assert is_too_much([b"<IDS|MSG>", text]) is much


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
    result = collected(big, big, shown=1150)
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
