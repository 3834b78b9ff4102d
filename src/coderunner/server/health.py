"""`GET /health`: whether it works, for people and for probes."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from coderunner.server.service import Service, service_of
from coderunner.server.workers import State


class Health(BaseModel):
    status: Literal["ok", "degraded"] = Field(examples=["ok"])
    containers: dict[str, State] = Field(
        description="each language's worker", examples=[{"python": "running", "ruby": "running"}]
    )
    uptime_seconds: int = Field(examples=[3600])


router = APIRouter(tags=["service"])


@router.get("/health", summary="Look whether it works")
async def health(service: Annotated[Service, Depends(service_of)]) -> Health:
    """`degraded` says that a worker is stopped: its next run starts another one."""
    states = await service.workers.states()
    return Health(
        status="degraded" if "stopped" in states.values() else "ok",
        containers=states,
        uptime_seconds=int(time.monotonic() - service.started),
    )
