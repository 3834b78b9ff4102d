"""What goes into an execution, and what comes out of it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, Field


class ErrorType(StrEnum):
    """All that `ExecutionError.type` can be. Each is the text that it shows as."""

    TIMEOUT = "timeout"
    OOM_KILLED = "oom_killed"
    RUNTIME_ERROR = "runtime_error"
    OUTPUT_LIMIT = "output_limit"
    UNKNOWN_EXECUTOR_ERROR = "unknown_executor_error"


class ExecutionError(BaseModel):
    """Data model for an execution error."""

    type: str = Field(examples=["runtime_error", "timeout", "oom_killed", "output_limit"])
    message: str = Field(examples=["ZeroDivisionError: division by zero"])


class ExecutionResult(BaseModel):
    """Data model for the result of a code execution."""

    success: bool  # it ran to its end and exited with 0
    exit_code: int  # 124: took too long, 137: too much memory, 128 + N: signal N, -1: could not run
    stdout: str
    stderr: str
    duration_ms: int
    error: ExecutionError | None = None


class ResourceLimits(BaseModel):
    """Defines the resource limits for a code execution."""

    timeout_seconds: int = 30
    memory_mb: int = 512  # of a box; a container has what it was made with
    cpus: float = 0.5  # the same
    max_output_bytes: int = 10 * 1024 * 1024  # 10MB, of each stream
