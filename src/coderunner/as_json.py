"""A run as JSON: what `coderunner run --json` prints, and what the service answers."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, Protocol

from coderunner import exit_codes
from coderunner.model import File, Outcome, Output, Result, Usage
from coderunner.workspace.collection import is_executable
from coderunner.workspace.names import encoded

Json = dict[str, Any]


class Tool(Protocol):
    """What has run it: a toolchain, here or elsewhere."""

    @property
    def language(self) -> str: ...

    @property
    def version(self) -> str: ...


def of_result(result: Result, tool: Tool) -> Json:
    return {
        "language": tool.language,
        "version": tool.version,
        "ok": result.ok,
        "exit_code": exit_codes.of_result(result),
        "engine": result.outcome.engine,
        "isolation": result.outcome.isolation.value,
        "compilation": of_outcome(result.compilation),
        "execution": of_outcome(result.execution),
    }


def of_outcome(outcome: Outcome | None) -> Json | None:
    if outcome is None:
        return None
    return {
        "ended_by": outcome.ended_by.value,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "cached": outcome.cached,
        "warm": outcome.warm,
        "container": outcome.container,
        "usage": _usage(outcome.usage),
        "stdout": _output(outcome.stdout),
        "stderr": _output(outcome.stderr),
    }


def _usage(usage: Usage) -> Json:
    return {
        "wall_ms": round(usage.wall_ms, 3),
        "cpu_ms": round(usage.cpu_ms, 3),
        "memory_peak_kb": usage.memory_peak_kb,
    }


def _output(output: Output) -> Json:
    """`text` is always there to be read; `base64` has the exact bytes where text cannot."""
    exact = output.text.encode() == output.data
    return {
        "text": output.text,
        "base64": None if exact else base64.b64encode(output.data).decode(),
        "dropped_bytes": output.dropped,
        "dropped_at": len(output.head) if output.dropped else None,
    }


def of_files(files: Iterable[File]) -> list[Json]:
    """Each with its `text`, or with `base64` where it is not UTF-8."""
    return [
        {
            **of_name(file.name),
            **_content(file.content),
            **({"executable": True} if is_executable(file) else {}),
        }
        for file in files
    ]


def of_name(name: str) -> Json:
    """What is not UTF-8 in it shows as `\\xff`; then `name_base64` has it as it is."""
    data = encoded(name)
    shown = data.decode("utf-8", "backslashreplace")
    if shown.encode() == data:
        return {"name": shown}
    return {"name": shown, "name_base64": base64.b64encode(data).decode()}


def _content(content: bytes) -> Json:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}
