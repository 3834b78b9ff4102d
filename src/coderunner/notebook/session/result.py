"""What a cell has shown, and what became of it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from coderunner.notebook.model import ExecutionError


class Display(BaseModel):
    """One thing in the forms that it has: an image, a table, at least a text."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    text: str = ""
    html: str | None = None
    png: bytes | None = None
    data: dict[str, Any] = Field(default_factory=dict)  # all forms, by MIME type, as they came


class CellError(ExecutionError):
    """`type` and `message` as everywhere. What Python raised has a name and a traceback, too."""

    name: str = ""
    traceback: str = ""


class CellResult(BaseModel):
    """What came of one cell."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    success: bool
    stdout: str = ""
    stderr: str = ""
    value: Display | None = None  # of its last expression
    displays: list[Display] = Field(default_factory=list)  # what it has shown besides, in order
    error: CellError | None = None
    execution_count: int | None = None
    duration_ms: int = 0
    alive: bool = True  # whether the session can go on

    @property
    def images(self) -> list[bytes]:
        """Every PNG among what it has shown, figures for example."""
        shown = [*self.displays, *([self.value] if self.value else [])]
        return [display.png for display in shown if display.png is not None]
