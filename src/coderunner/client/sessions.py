"""A session there: what is said to it, whoever says it."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import dataclass
from typing import TypedDict
from urllib.parse import quote

from coderunner.client.asking import Json, checked_text
from coderunner.client.exchange import ask, understood, whole
from coderunner.client.following import follow, is_live, live_request
from coderunner.client.relay import AsItComes
from coderunner.client.steps import Send, Talk
from coderunner.errors import InvalidInput
from coderunner.notebook.session.result import CellResult

_PATH = "/v1/sessions"
_START_S = 120  # for its turn to come, and for an interpreter to start
_TO_SPARE_S = 60
_USUAL_CELL_S = 30.0


class SessionOptions(TypedDict, total=False):
    """As of `coderunner.notebook.Session`. What is left out is as the service has it."""

    language: str
    timeout: float  # seconds, of each cell
    max_memory_mb: int
    max_output_bytes: int  # of each cell
    idle_seconds: float


@dataclass(slots=True)
class SessionTalks:
    """Knows which session it is, once it has been opened."""

    wanted: Json
    cell_s: float = _USUAL_CELL_S  # that a cell may take
    id: str = ""
    closed: bool = False

    @classmethod
    def of(cls, given: SessionOptions) -> SessionTalks:
        limits = {
            name: value
            for name, value in (
                ("wall_ms", given.get("timeout") and math.ceil(given["timeout"] * 1000)),
                ("memory_mb", given.get("max_memory_mb")),
                ("output_bytes", given.get("max_output_bytes")),
            )
            if value is not None
        }
        wanted = {
            "language": given.get("language", "python"),
            "idle_seconds": given.get("idle_seconds"),
            "limits": limits or None,
        }
        asked = {name: value for name, value in wanted.items() if value is not None}
        return cls(asked, given.get("timeout", _USUAL_CELL_S))

    def open(self) -> Talk[None]:
        if self.closed:
            raise InvalidInput("this session has been closed", hint="open another one")
        if self.id:
            return
        yield from ask(_post(_PATH, self.wanted, _START_S))
        self.id = understood(_id, (yield from whole()))

    def execute(self, code: str, *, live: bool) -> Talk[CellResult]:
        if not isinstance(code, str):
            raise InvalidInput(f"a cell must be text, not {type(code).__name__}")
        yield from self.open()
        cell = {"code": checked_text(code, "the cell")}
        if not live:
            yield from ask(_post(self._path("/cells"), cell, self.cell_s + _TO_SPARE_S))
            return understood(CellResult.model_validate_json, (yield from whole()))
        head = yield from ask(live_request(self._path("/cells"), json.dumps(cell).encode()))
        if is_live(head):
            return (yield from follow(AsItComes(), _result))
        return understood(CellResult.model_validate_json, (yield from whole()))

    def interrupt(self) -> Talk[None]:
        if self.id:
            yield from ask(_post(self._path("/interrupt")))

    def restart(self) -> Talk[None]:
        if not self.id:
            yield from self.open()
        else:
            yield from ask(_post(self._path("/restart"), silence_s=_START_S))

    def close(self) -> Talk[None]:
        """Closing it twice is fine."""
        known, self.id, self.closed = self.id, "", True
        if known:
            with contextlib.suppress(InvalidInput):  # the service has ended it already
                yield from ask(Send("DELETE", f"{_PATH}/{known}"))

    def _path(self, what: str) -> str:
        return f"{_PATH}/{self.id}{what}"


def _post(path: str, body: Json | None = None, silence_s: float = _TO_SPARE_S) -> Send:
    written = None if body is None else json.dumps(body).encode()
    return Send("POST", path, written, silence_s=silence_s)


def _id(body: bytes) -> str:
    return quote(str(json.loads(body)["id"]), safe="")


def _result(found: object) -> CellResult:
    """As from JSON: its pictures are base64."""
    return CellResult.model_validate_json(json.dumps(found))
