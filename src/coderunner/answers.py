"""What `as_json` writes, as the OpenAPI document describes it and as clients read it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from coderunner.model import EndedBy, Isolation


class Printed(BaseModel):
    """What was kept of a stream."""

    text: str = Field(description="what is not UTF-8 shows as U+FFFD", examples=["desserts\n"])
    base64: str | None = Field(
        description="the exact bytes, if text does not have them", examples=[None]
    )
    dropped_bytes: int = Field(description="left out in the middle", examples=[0])
    dropped_at: int | None = Field(description="after so many bytes", examples=[None])


class UsageAnswer(BaseModel):
    wall_ms: float = Field(examples=[12.4])
    cpu_ms: float = Field(examples=[9.8])
    memory_peak_kb: int = Field(examples=[9728])


class OutcomeAnswer(BaseModel):
    """The facts of one process tree."""

    ended_by: EndedBy = Field(description="exit, signal, or the limit that it broke")
    exit_code: int | None = Field(description="null unless it exited by itself", examples=[0])
    signal: int | None = Field(description="null unless a signal ended it", examples=[None])
    cached: bool = Field(description="a compilation that was kept from another time")
    warm: bool = Field(description="in an interpreter that had started before")
    container: str = Field(default="", description="its id, if it ran in one", examples=[""])
    usage: UsageAnswer
    stdout: Printed
    stderr: Printed


class ReturnedFile(BaseModel):
    """With `text`, or with `base64` if it is not UTF-8: as it may be sent again."""

    name: str = Field(description="what is not UTF-8 shows as `\\xff`", examples=["result.txt"])
    name_base64: str | None = Field(
        default=None, description="its exact bytes, if it is not UTF-8", examples=[None]
    )
    text: str = Field(default="", examples=["42\n"])
    base64: str = Field(default="", examples=["/w=="])
    executable: bool = Field(
        default=False, description="the program has made it so", examples=[False]
    )


class LeftOut(BaseModel):
    name: str = Field(examples=["link.txt"])
    name_base64: str | None = Field(
        default=None, description="its exact bytes, if it is not UTF-8", examples=[None]
    )
    reason: str = Field(examples=["a symbolic link"])


class RunAnswer(BaseModel):
    """What happened. A program that fails is a good answer: look at `ok` and `ended_by`."""

    language: str = Field(examples=["python"])
    version: str = Field(examples=["3.11.2"])
    ok: bool = Field(description="it compiled, ran to its end and exited with 0")
    exit_code: int = Field(
        description="the program's; 1: it did not compile; 124: out of time; 137: out of memory; "
        "125: another limit; 128 + N: signal N",
        examples=[0],
    )
    engine: str = Field(examples=["linux"])
    isolation: Isolation = Field(examples=["full"])
    compilation: OutcomeAnswer | None = Field(description="null if there was none to do")
    execution: OutcomeAnswer | None = Field(description="null if it did not compile")
    files: list[ReturnedFile] = Field(description="those that `collect` asked for")
    files_left_out: list[LeftOut] = Field(
        description="what else matched: no regular file, or too large for an answer"
    )


class LanguageAnswer(BaseModel):
    name: str = Field(examples=["python"])
    title: str = Field(examples=["Python"])
    aliases: list[str] = Field(examples=[["python3", "py"]])
    extensions: list[str] = Field(examples=[[".py"]])
    version: str | None = Field(
        description="null if it is not installed, or not looked for yet", examples=["3.11.2"]
    )
    available: bool | None = Field(
        description="null if that is not known yet: its image would have to be fetched"
    )
    warm: bool = Field(description="an interpreter or a container is ready for its next run")


class LanguagesAnswer(BaseModel):
    languages: list[LanguageAnswer] = Field(description="by name")


WorkerState = Literal["running", "stopped"]


class HealthAnswer(BaseModel):
    status: Literal["ok", "degraded"] = Field(examples=["ok"])
    containers: dict[str, WorkerState] = Field(
        description="each language's worker", examples=[{"python": "running", "ruby": "running"}]
    )
    uptime_seconds: int = Field(examples=[3600])
