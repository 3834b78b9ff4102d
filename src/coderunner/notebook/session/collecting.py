"""From a kernel's messages to what a cell has shown. Nothing in them is trusted, neither their form
nor their size."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any

from coderunner.model import Stream
from coderunner.notebook.model import ErrorType
from coderunner.notebook.session.messages import values_in
from coderunner.notebook.session.result import CellError, CellResult, Display
from coderunner.text import as_bytes, head_of

_MOST_DISPLAYS = 200
_PER_VALUE = 32  # bytes, beside those of its text
_PNG = "image/png"
_SHOWING = ("stream", "display_data", "execute_result", "error")
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Text:
    """The beginning of a stream, cut between two characters."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = bytearray()
        self.cut = False

    def add(self, text: str) -> str:
        """What of it is new to a reader."""
        if self.cut:
            return ""
        before = len(self._kept)
        self._kept += as_bytes(_whole(text), "output")
        self.cut = len(self._kept) > self._most
        kept = head_of(bytes(self._kept), self._most) if self.cut else ""
        if self.cut:
            self._kept[:] = kept.encode()
        return bytes(self._kept[before:]).decode(errors="replace")

    def clear(self) -> None:
        self._kept.clear()
        self.cut = False

    def __str__(self) -> str:
        return self._kept.decode(errors="replace")


class Collecting:
    """One cell's messages, as they come."""

    def __init__(self, max_output_bytes: int, max_display_bytes: int, flood_bytes: int) -> None:
        self.texts = {stream: Text(max_output_bytes) for stream in Stream}
        self.flooded = asyncio.Event()
        self._left = flood_bytes  # to be received, whether it is kept or not
        self.lost = False  # something was too much
        self._room = max_display_bytes
        self._displays: dict[str, Display] = {}
        self._value: Display | None = None
        self._error: CellError | None = None
        self._count: int | None = None
        self._to_clear = False  # as soon as there is something else to be seen
        self._most_text = max_output_bytes

    def received(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            self.flooded.set()

    def overwhelmed(self) -> None:
        """Something was too long to be received at all."""
        self.lost = True
        self.flooded.set()

    def take(self, kind: str, content: Mapping[str, Any]) -> tuple[Stream, str] | None:
        """What is new of stdout or stderr."""
        if self._to_clear and kind in _SHOWING:
            self._clear()
        if kind == "stream":
            return self._stream(content)
        if kind in ("display_data", "update_display_data"):
            self._show(content, update=kind.startswith("update"))
        elif kind == "execute_result":
            self._value = self._display(content)
            self._counted(content)
        elif kind == "error":
            self._error = self._raised(content)
        elif kind == "execute_reply":
            self._replied(content)
        elif kind == "execute_input":
            self._counted(content)
        elif kind == "clear_output":
            self._to_clear = True
            if not content.get("wait"):
                self._clear()
        return None

    def result(self, error: CellError | None, *, duration_ms: int, alive: bool) -> CellResult:
        """`error`, if there is one, is why the cell was ended; else it is the cell's own."""
        error = error or self._error
        success = error is None
        if success and (self.lost or any(text.cut for text in self.texts.values())):
            error = CellError(
                type=ErrorType.OUTPUT_LIMIT, message="Output was cut: there was too much of it."
            )
        return CellResult(
            success=success,
            stdout=str(self.texts[Stream.STDOUT]),
            stderr=str(self.texts[Stream.STDERR]),
            value=self._value,
            displays=list(self._displays.values()),
            error=error,
            execution_count=self._count,
            duration_ms=duration_ms,
            alive=alive,
        )

    def _clear(self) -> None:
        self._to_clear = False
        self._displays.clear()
        for text in self.texts.values():
            text.clear()

    def _replied(self, content: Mapping[str, Any]) -> None:
        """Of some errors, groups of them for one, only the reply tells."""
        if content.get("status") == "error" and self._error is None:
            self._error = self._raised(content)

    def _stream(self, content: Mapping[str, Any]) -> tuple[Stream, str] | None:
        text = content.get("text")
        if not isinstance(text, str):
            return None
        stream = Stream.STDERR if content.get("name") == "stderr" else Stream.STDOUT
        new = self.texts[stream].add(text)
        return (stream, new) if new else None

    def _show(self, content: Mapping[str, Any], *, update: bool) -> None:
        transient = content.get("transient")
        known = transient.get("display_id") if isinstance(transient, dict) else None
        key = f"id {known}" if isinstance(known, str) else f"number {len(self._displays)}"
        if update and key not in self._displays:
            return  # of an earlier cell
        if len(self._displays) >= _MOST_DISPLAYS and key not in self._displays:
            self.lost = True
            return
        display = self._display(content)
        if display is not None:
            self._displays[key] = display

    def _display(self, content: Mapping[str, Any]) -> Display | None:
        data = content.get("data")
        if not isinstance(data, dict):
            return None
        forms: dict[str, Any] = {}
        for kind, form in data.items():
            size = len(kind) + _PER_VALUE + _size_of(form)
            if size > self._room:
                self.lost = True
                continue
            self._room -= size
            forms[str(kind)] = form
        html = forms.get("text/html")
        return Display(
            text=_text(forms.get("text/plain")),
            html=_text(html) if html is not None else None,
            png=_decoded(forms.get(_PNG)),
            data=forms,
        )

    def _raised(self, content: Mapping[str, Any]) -> CellError:
        name, value = _text(content.get("ename")), _text(content.get("evalue"))
        lines = content.get("traceback")
        traceback = "\n".join(map(_text, lines)) if isinstance(lines, list) else ""
        message = f"{name}: {value}" if value else name
        return CellError(
            type=ErrorType.RUNTIME_ERROR,
            message=self._cut(message),
            name=self._cut(name),
            traceback=self._cut(_COLOURS.sub("", traceback)),
        )

    def _cut(self, text: str) -> str:
        return head_of(as_bytes(_whole(text), "text"), self._most_text)

    def _counted(self, content: Mapping[str, Any]) -> None:
        count = content.get("execution_count")
        self._count = count if isinstance(count, int) else self._count


def _size_of(form: object) -> int:
    """About what it takes to keep it."""
    if isinstance(form, str):
        return len(form)
    text = json.dumps(form).encode()
    return len(text) + _PER_VALUE * values_in(text)


def _text(value: object) -> str:
    """Some send a text in parts."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return _whole(value) if isinstance(value, str) else ""


def _whole(text: str) -> str:
    """Halves of characters, which JSON can have, are no text."""
    return text.encode("utf-8", "replace").decode()


def _decoded(image: object) -> bytes | None:
    if not isinstance(image, str):
        return None
    try:
        return base64.b64decode(image)
    except (binascii.Error, ValueError):
        return None
