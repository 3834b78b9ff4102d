"""What comes in and goes out, as OpenAPI describes it."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from coderunner.model import Isolation
from coderunner.server.sessions.open_session import OpenSession, State
from coderunner.server.v1.asked import GivenLimits


class SessionRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    language: str = Field(default="python", examples=["python"])
    idle_seconds: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        examples=[600],
        description="it ends by itself when nobody has used it for so long",
    )
    limits: GivenLimits = Field(
        default=GivenLimits(),
        examples=[{"wall_ms": 20000, "memory_mb": 512}],
        description="`wall_ms` and `output_bytes` of each cell, all else of the session's life",
    )


class SessionInfo(BaseModel):
    """A session as it is now."""

    id: str = Field(examples=["hPHsPtmUEgSvvrAr4mJ5Vg"], description="whoever knows it, and is you")
    language: str = Field(examples=["python"])
    state: State = Field(
        description="`dead`: the interpreter is no more, and a restart brings another one"
    )
    created: datetime.datetime = Field(examples=["2030-01-31T12:00:00Z"])
    cells: int = Field(examples=[3], description="that were run in it")
    idle_seconds: float = Field(examples=[600])
    isolation: Isolation = Field(examples=["full"])
    limits: dict[str, int | float | None] = Field(
        examples=[{"wall_ms": 30000, "memory_mb": 512, "output_bytes": 1000000}]
    )

    @classmethod
    def of(cls, session: OpenSession) -> Self:
        return cls(
            id=session.id,
            language=session.language,
            state=session.state,
            created=session.created,
            cells=session.cells,
            idle_seconds=session.idle_seconds,
            isolation=session.isolation,
            limits=dataclasses.asdict(session.limits),
        )


class SessionList(BaseModel):
    sessions: list[SessionInfo] = Field(description="yours")


class CellRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    code: str = Field(examples=["import math\nmath.sqrt(2)"])
