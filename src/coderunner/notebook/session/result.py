"""What a cell has shown, and what became of it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from coderunner.notebook.model import ExecutionError


class Display(BaseModel):
    """One thing in the forms that it has: an image, a table, at least a text."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    text: str = Field(default="", examples=["42"])
    html: str | None = Field(default=None, examples=["<b>42</b>"])
    png: bytes | None = Field(default=None, description="in JSON as base64")
    data: dict[str, Any] = Field(
        default_factory=dict, description="all forms, by MIME type, as they came"
    )


class CellError(ExecutionError):
    """`type` and `message` as everywhere. What Python raised has a name and a traceback, too."""

    name: str = Field(default="", examples=["ZeroDivisionError"])
    traceback: str = Field(default="", description="as Python shows it, without colours")


class CellResult(BaseModel):
    """What came of one cell."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    success: bool = Field(description="it ran to its end, and raised nothing")
    stdout: str = Field(default="", examples=["hello\n"])
    stderr: str = Field(default="", examples=[""])
    value: Display | None = Field(default=None, description="of its last expression")
    displays: list[Display] = Field(
        default_factory=list, description="what it has shown besides, in order"
    )
    error: CellError | None = Field(default=None, description="why it failed, or was cut")
    execution_count: int | None = Field(default=None, examples=[1])
    duration_ms: int = Field(default=0, examples=[12])
    alive: bool = Field(default=True, description="whether the session can go on")

    @property
    def images(self) -> list[bytes]:
        """Every PNG among what it has shown, figures for example."""
        shown = [*self.displays, *([self.value] if self.value else [])]
        return [display.png for display in shown if display.png is not None]
