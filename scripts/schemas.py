"""Writes what `docs/schemas` publishes: the JSON Schemas of what the judge takes and gives, and the
OpenAPI document of the service."""

from __future__ import annotations

import json
from pathlib import Path

from coderunner.judge import ExecutionRequest, ExecutionResult
from coderunner.judge.as_json import schema_text
from coderunner.judge.problem.one_file import ProblemFile
from coderunner.server import create_app
from coderunner.settings import Settings

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"
SCHEMAS = {
    "execution-request": ExecutionRequest,
    "execution-result": ExecutionResult,
    "problem-file": ProblemFile,
}


def openapi_text() -> str:
    return json.dumps(create_app(Settings()).openapi(), indent=2) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, kind in SCHEMAS.items():
        (FOLDER / f"{name}.json").write_text(schema_text(kind))
    (FOLDER / "openapi.json").write_text(openapi_text())
