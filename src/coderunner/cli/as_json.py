"""What `--json` prints: one object on one line, plain ASCII."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from coderunner.as_json import of_result
from coderunner.cli import streams

if TYPE_CHECKING:
    from coderunner.doctor import Report
    from coderunner.errors import CodeRunnerError
    from coderunner.settings.effective import Effective
    from coderunner.survey import Finding

__all__ = ["of_error", "of_failure", "of_finding", "of_report", "of_result", "write"]

Json = dict[str, Any]


def write(value: Json) -> None:
    streams.write_all(1, json.dumps(value).encode() + b"\n")


def of_error(kind: str, message: str, hint: str) -> Json:
    return {"error": {"type": kind, "message": message, "hint": hint}}


def of_failure(error: CodeRunnerError) -> Json:
    return of_error(type(error).__name__, error.message, error.hint)


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
