"""How the HTTP service behaves: `CODERUNNER_SERVER__PORT=8080`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from pydantic import BaseModel, Field, SecretStr, field_validator

from coderunner.language import user_language_dir
from coderunner.model import MIB, Isolation, Limits

# What a stranger may ask for. A turn is as long as its wall time at most.
CEILING = Limits(
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
    languages = user_language_dir()
    return languages.parent / "tokens" if languages else None


class ServerSettings(BaseModel):
    host: str = Field(default="0.0.0.0", description="the address to listen on")  # noqa: S104
    port: int = Field(default=8000, ge=0, le=65535, description="the port to listen on")
    cors_origins: list[str] = Field(
        default=["http://localhost:3000"], description="pages that browsers may call from"
    )
    trusted_hosts: list[str] = Field(
        default=[], description="names this service is known by, beside localhost"
    )
    tokens: list[SecretStr] = Field(
        default=[], description="who is not on this machine has to show one of these"
    )
    tokens_file: Path | None = Field(
        default_factory=_tokens_file, description="where `coderunner token` keeps those it made"
    )
    min_isolation: Isolation = Field(
        default=Isolation.FULL, description="refuse to serve behind weaker walls than these"
    )
    log_level: str = Field(default="info", description="debug, info, warning or error")
    request_body_kb: int = Field(
        default=100, ge=1, description="the largest body of POST /execute/…"
    )
    v1_body_kb: int = Field(default=10_240, ge=1, description="the largest body under /v1")
    body_seconds: float = Field(default=30, gt=0, description="that a body may take to arrive")
    timeout_ms: int = Field(default=10_000, ge=1, description="time limit of /execute")
    memory_mb: int = Field(default=256, ge=1, description="memory limit of /execute")
    cpus: float | None = Field(default=None, gt=0, description="cores' worth of cpu of /execute")
    output_kb: int = Field(default=10, ge=1, description="kept of each stream of /execute")
    concurrency: int | None = Field(
        default=None, ge=1, description="runs at once; as many as there are cores if not set"
    )
    queue: int = Field(default=64, ge=0, description="runs that may wait for their turn")
    queue_wait_ms: int = Field(default=10_000, ge=1, description="how long each may wait")
    client_concurrency: int = Field(
        default=32, ge=1, description="runs of one client that may be running or waiting"
    )
    client_rate: float = Field(
        default=100, gt=0, description="requests of one client per second, in the long run"
    )
    client_burst: int = Field(default=200, ge=1, description="requests of one client at once")
    prestart: list[str] | None = Field(
        default=None, description="languages to make ready at the start; those at hand if not set"
    )
    idle_seconds: float = Field(
        default=1800, gt=0, description="a worker that nobody used for so long is ended"
    )
    check_seconds: float = Field(default=300, gt=0, description="how often that is looked at")
    drain_seconds: float = Field(
        default=30, ge=0, description="what is running when the service ends may take so long"
    )
    ceiling: Limits = Field(
        default=CEILING,
        description="the most that callers of /v1 may ask for; what is not set stays as it is",
    )
    allowed_env: list[str] = Field(
        default=[], description="variables that callers of /v1 may set for their programs"
    )
    answer_kb: int = Field(
        default=32_768,
        ge=1,
        description="of what a program prints and leaves behind, an answer of /v1 has this much",
    )
    judge_tests: int = Field(default=1000, ge=1, description="tests of one submission")
    stream_kb: int = Field(
        default=256, ge=1, description="live output that waits for a slow reader; the rest is lost"
    )
    heartbeat_seconds: float = Field(
        default=15, gt=0, description="how often a live stream says that it is alive"
    )
    sessions: int = Field(default=16, ge=0, description="sessions that may be open at once")
    client_sessions: int = Field(default=4, ge=0, description="the same, of one client")
    session_idle_seconds: float = Field(
        default=1800, gt=0, description="a session that nobody used for so long is ended"
    )
    live: int | None = Field(
        default=None,
        ge=1,
        description="interactive runs at once, which mostly wait; 8 per core if not set",
    )
    live_wall_ms: int = Field(
        default=600_000, ge=1, description="time limit of interactive runs, and the most to ask for"
    )
    live_cpu_ms: int = Field(
        default=60_000, ge=1, description="cpu time of interactive runs, and the most to ask for"
    )
    sockets: int = Field(default=256, ge=1, description="WebSockets that may be open at once")
    client_sockets: int = Field(default=32, ge=1, description="the same, of one client")
    socket_message_kb: int = Field(
        default=1024, ge=1, description="the longest message that a WebSocket may bring"
    )
    input_seconds: float = Field(
        default=10, gt=0, description="how long a lot of input may wait to be read by its program"
    )
    ping_seconds: float = Field(
        default=20,
        gt=0,
        description="how often we ask whether a WebSocket's other end is still there, and how long "
        "its answer may take",
    )

    @field_validator("ceiling", mode="before")
    @classmethod
    def _complete(cls, value: object) -> object:
        """One field of the ceiling must not reset all the others."""
        return {**asdict(CEILING), **value} if isinstance(value, dict) else value
