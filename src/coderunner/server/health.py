"""`GET /health`: whether it works, for people and for probes."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Depends

from coderunner.answers import HealthAnswer
from coderunner.server.service import Service, service_of

router = APIRouter(tags=["service"])


@router.get("/health", summary="Look whether it works")
async def health(service: Annotated[Service, Depends(service_of)]) -> HealthAnswer:
    """`degraded` says that a worker is stopped: its next run starts another one."""
    states = await service.workers.states()
    return HealthAnswer(
        status="degraded" if "stopped" in states.values() else "ok",
        containers=states,
        uptime_seconds=int(time.monotonic() - service.started),
    )
