"""The section `server`: the HTTP service."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, field_validator

from coderunner.language import user_config_dir
from coderunner.model import MIB, Isolation, Limits
from coderunner.settings.listed import Names, listed, listed_or_all

# What a caller of the service may ask for: what others on the same machine can bear. What is not
# limited here, nobody is held to: an ordinary user may have no cgroup to hold cores in.
CALLERS_CEILING = Limits(
    wall_ms=60_000,
    memory_mb=1024,
    processes=256,
    output_bytes=4 * MIB,
    flood_bytes=64 * MIB,
    disk_mb=256,
    files=10_000,
    open_files=1024,
    stack_mb=1024,
)


def _tokens_file() -> Path | None:
    config = user_config_dir()
    return config / "tokens" if config else None


class ServerSettings(BaseModel):
    """What `coderunner serve` does: `CODERUNNER_SERVER__PORT=9000`."""

    model_config = ConfigDict(extra="forbid")

    host: str = Field(default="0.0.0.0", description="the address it listens on")  # noqa: S104  # only loopback is served without a token
    port: int = Field(default=8000, ge=0, le=65_535, description="its port; 0: any that is free")
    tokens: Annotated[list[SecretStr], BeforeValidator(listed)] = Field(
        default_factory=list,
        description="who is not on this machine needs one of these (Authorization: Bearer)",
    )
    tokens_file: Path | None = Field(
        default_factory=_tokens_file, description="where `coderunner token` keeps those it made"
    )
    trusted_hosts: Names = Field(
        default_factory=list, description="names it is called by, besides those of loopback"
    )
    cors_origins: Names = Field(
        default=["http://localhost:3000"], description="web pages whose scripts may call it"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="debug, info, warning or error"
    )

    request_body_kb: int = Field(default=100, gt=0, description="the largest body at /execute")
    v1_body_kb: int = Field(default=10_240, gt=0, description="the largest body under /v1")
    body_seconds: float = Field(default=30, gt=0, description="that a body may take to arrive")
    timeout_ms: int = Field(default=10_000, gt=0, description="of a run at /execute, on the clock")
    memory_mb: int = Field(default=256, gt=0, description="of a run at /execute")
    cpus: float | None = Field(
        default=None,
        gt=0,
        description="cores' worth of cpu of a run at /execute; if not set, any",
    )
    output_kb: int = Field(
        default=10, gt=0, description="of each stream in the answer of /execute; the rest is cut"
    )
    ceiling: Limits = Field(
        default=CALLERS_CEILING,
        description="the most that a caller of /v1 may ask for; what is not set stays as it is",
    )
    allowed_env: Names = Field(
        default_factory=list, description="variables that callers of /v1 may set for their programs"
    )
    min_isolation: Isolation = Field(
        default=Isolation.FULL, description="refuse to serve behind weaker walls than these"
    )

    concurrency: int | None = Field(
        default=None, gt=0, description="runs at once; if not set, as many as there are cores"
    )
    queue: int = Field(default=64, ge=0, description="requests that may wait for their turn")
    queue_wait_ms: int = Field(default=10_000, ge=0, description="how long each of them may wait")
    client_concurrency: int = Field(
        default=48, gt=0, description="runs of one client that may be running or waiting"
    )
    client_rate: float = Field(
        default=1000, gt=0, description="requests of one client per second, in the long run"
    )
    client_burst: int = Field(default=2000, gt=0, description="requests of one client at once")

    prestart: Annotated[list[str] | Literal["all"], BeforeValidator(listed_or_all)] = Field(
        default=["python", "ruby"],
        description="languages made ready when the service starts: names, or all",
    )
    idle_seconds: float = Field(
        default=1800, gt=0, description="a language's worker that long unused is ended"
    )
    check_seconds: float = Field(
        default=300, gt=0, description="how often unused workers are looked for"
    )
    drain_seconds: float = Field(
        default=30, ge=0, description="what is running when the service ends may take so long"
    )
    sessions: int = Field(default=16, ge=0, description="sessions at once; 0: there are none")
    session_idle_seconds: float = Field(
        default=1800, gt=0, description="a session that long unused is closed"
    )
    answer_kb: int = Field(
        default=32_768,
        gt=0,
        description="of what a program prints and leaves behind, an answer of /v1 has this much",
    )
    judge_tests: int = Field(default=1000, gt=0, description="tests of one submission")
    stream_kb: int = Field(
        default=256, gt=0, description="live output that waits for a slow reader; the rest is lost"
    )
    heartbeat_seconds: float = Field(
        default=15, gt=0, description="how often a live stream says that it is alive"
    )
    client_sessions: int = Field(default=4, ge=0, description="sessions at once of one client")
    live: int | None = Field(
        default=None,
        gt=0,
        description="interactive runs at once, which mostly wait; none: 8 per core",
    )
    live_wall_ms: int = Field(
        default=600_000, gt=0, description="time limit of interactive runs, and the most to ask for"
    )
    live_cpu_ms: int = Field(
        default=60_000, gt=0, description="cpu time of interactive runs, and the most to ask for"
    )
    sockets: int = Field(default=256, gt=0, description="WebSockets that may be open at once")
    client_sockets: int = Field(default=32, gt=0, description="WebSockets at once of one client")
    socket_message_kb: int = Field(
        default=1024, gt=0, description="the longest message that a WebSocket may bring"
    )
    input_seconds: float = Field(
        default=10, gt=0, description="how long a lot of input may wait to be read by its program"
    )
    ping_seconds: float = Field(
        default=20,
        gt=0,
        description="how often a WebSocket's other end is asked whether it is there, and how long "
        "its answer may take",
    )

    @field_validator("ceiling", mode="before")
    @classmethod
    def _complete(cls, value: object) -> object:
        """One field of it that is set must not reset all the others."""
        return {**asdict(CALLERS_CEILING), **value} if isinstance(value, dict) else value

    @field_validator("log_level", mode="before")
    @classmethod
    def _small(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value
