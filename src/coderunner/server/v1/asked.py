"""What may be asked for: a program, its input, its limits.

Nothing is guessed: a field that nobody knows, text for a number and `null` are errors.
"""

from __future__ import annotations

import base64
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import TypedDict

_STRICT = ConfigDict(extra="forbid", strict=True)
_BASE64 = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_MOST_PATTERNS = 100
_LONGEST_PATTERN = 1024

Count = Annotated[int, Field(gt=0)]
Text64 = Annotated[
    str, Field(pattern=_BASE64, json_schema_extra={"contentEncoding": "base64"}, examples=["/w=="])
]


class Base64(BaseModel):
    """Bytes that are no text."""

    model_config = _STRICT

    base64: Text64

    def data(self) -> bytes:
        return base64.b64decode(self.base64)


class GivenFile(BaseModel):
    """A file of the program: its `text`, or its bytes as `base64`."""

    model_config = ConfigDict(
        **_STRICT,
        json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["base64"]}]},
    )

    name: str = Field(
        min_length=1,
        description="a relative path with forward slashes",
        examples=["main.py", "data/input.csv"],
    )
    text: str = Field(default="", examples=["print(open('data/input.csv').read())"])
    base64: Text64 = ""

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        if len(self.model_fields_set & {"text", "base64"}) != 1:
            raise ValueError("a file has either text or base64")
        return self

    def data(self) -> bytes:
        if "text" in self.model_fields_set:
            return self.text.encode()
        return base64.b64decode(self.base64)


class GivenLimits(TypedDict, total=False):
    """What a run may use. What is left out is as it is in the library, and never above the ceiling
    of this service."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    wall_ms: Annotated[Count, Field(description="time on the clock")]
    cpu_ms: Annotated[Count, Field(description="cpu time of all its processes")]
    memory_mb: Annotated[Count, Field(description="memory of all its processes, and its files")]
    processes: Annotated[Count, Field(description="processes and threads at once")]
    output_bytes: Annotated[Count, Field(description="kept of each stream: its head and its tail")]
    flood_bytes: Annotated[Count, Field(description="written to one stream before it is ended")]
    disk_mb: Annotated[Count, Field(description="all that it writes to files")]
    files: Annotated[Count, Field(description="files and directories at once")]
    open_files: Annotated[Count, Field(description="files open at once")]
    stack_mb: Annotated[Count, Field(description="stack of its main thread")]
    cpus: Annotated[float, Field(gt=0, description="cores' worth of cpu at any time")]
    address_space_mb: Annotated[Count, Field(description="virtual memory of each process")]


class RunRequest(BaseModel):
    """A program, and how it is to be run."""

    model_config = ConfigDict(
        **_STRICT,
        json_schema_extra={"anyOf": [{"required": ["code"]}, {"required": ["files"]}]},
    )

    language: str = Field(
        description="its name or one of its aliases; GET /v1/languages lists them",
        examples=["python"],
    )
    code: str | Base64 = Field(
        default="",
        description="the main file; it gets the name that is usual for the language",
        examples=["print(input()[::-1])"],
    )
    files: list[GivenFile] = Field(
        default=[],
        min_length=1,
        description="all files, or those beside `code`; the first source file is the main one",
    )
    stdin: str | Base64 = Field(default="", description="all of its input", examples=["stressed"])
    args: list[str] = Field(default=[], examples=[["--level", "3"]])
    env: dict[str, str] = Field(
        default={},
        description="variables of its environment: those that this service allows",
        examples=[{}],
    )
    limits: GivenLimits = Field(
        default=GivenLimits(), examples=[{"wall_ms": 2000, "memory_mb": 128}]
    )
    compile_limits: GivenLimits = Field(
        default=GivenLimits(), description="of the compilation", examples=[{"wall_ms": 20000}]
    )
    collect: list[Annotated[str, Field(min_length=1, max_length=_LONGEST_PATTERN)]] = Field(
        default=[],
        max_length=_MOST_PATTERNS,
        description="the files to bring back: `result.txt`, `*.png`, `out/**`",
        examples=[["*.txt"]],
    )

    @model_validator(mode="after")
    def _some_code(self) -> Self:
        if not self.model_fields_set & {"code", "files"}:
            raise ValueError("there is nothing to run: send code, or files")
        return self

    @property
    def has_code(self) -> bool:
        return "code" in self.model_fields_set
