"""What `--json` prints: one object on one line, plain ASCII."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from coderunner.cli import exit_codes, streams

if TYPE_CHECKING:
    from coderunner.doctor import Report
    from coderunner.errors import CodeRunnerError
    from coderunner.model import Outcome, Output, Result, Usage
    from coderunner.settings.effective import Effective
    from coderunner.survey import Finding
    from coderunner.toolchain import Toolchain

Json = dict[str, Any]


def write(value: Json) -> None:
    streams.write_all(1, json.dumps(value).encode() + b"\n")


def of_error(kind: str, message: str, hint: str) -> Json:
    return {"error": {"type": kind, "message": message, "hint": hint}}


def of_failure(error: CodeRunnerError) -> Json:
    return of_error(type(error).__name__, error.message, error.hint)


def of_result(result: Result, toolchain: Toolchain) -> Json:
    return {
        "language": toolchain.language,
        "version": toolchain.version,
        "ok": result.ok,
        "exit_code": exit_codes.of_result(result),
        "engine": result.outcome.engine,
        "isolation": result.outcome.isolation.value,
        "compilation": _outcome(result.compilation),
        "execution": _outcome(result.execution),
    }


def _outcome(outcome: Outcome | None) -> Json | None:
    if outcome is None:
        return None
    return {
        "ended_by": outcome.ended_by.value,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "cached": outcome.cached,
        "warm": outcome.warm,
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


def of_finding(finding: Finding) -> Json:
    language, toolchain, missing = finding.language, finding.toolchain, finding.missing
    return {
        "name": language.name,
        "title": language.title,
        "aliases": list(language.aliases),
        "extensions": list(language.extensions),
        "found": toolchain is not None,
        "version": toolchain.version if toolchain else None,
        "tools": dict(toolchain.tools) if toolchain else {},
        "mounts": [str(mount.source) for mount in toolchain.mounts] if toolchain else [],
        "problem": missing.message if missing else None,
        "install": missing.hint if missing else None,
        "origin": language.origin,
    }


def of_report(report: Report) -> Json:
    return {
        "ok": report.ok,
        "engine": report.engine,
        "isolation": report.proven,
        "claimed": report.claimed,
        "min_isolation": report.wanted,
        "machine": asdict(report.machine),
        **(of_failure(report.failure) if report.failure else {"error": None}),
        "controls": [asdict(finding) for finding in report.findings],
        "languages": [of_finding(finding) for finding in report.toolchains],
    }


def of_setting(setting: Effective) -> Json:
    return {"key": setting.key, "value": setting.value, "from": setting.origin}
