"""The section `judge`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class JudgeSettings(BaseModel):
    """What a request to the judge may use, where it does not say so itself."""

    model_config = ConfigDict(extra="forbid")

    timeout_ms: int = Field(default=5_000, gt=0, description="of each test, on the clock")
    total_timeout_ms: int = Field(default=60_000, gt=0, description="of all tests together")
    memory_limit_mb: int = Field(default=256, gt=0, description="of each test")
    cpu_limit: float = Field(default=1.0, gt=0, description="cores' worth of cpu of each test")
    keep_output_kb: int = Field(
        default=64, gt=0, description="kept of each stream, for the results"
    )
    processes: int = Field(default=64, gt=0, description="processes and threads of each test")
