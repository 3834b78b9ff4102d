"""Writes the JSON Schemas of what the judge takes and gives, which `docs/` publishes."""

from __future__ import annotations

from pathlib import Path

from coderunner.judge import ExecutionRequest, ExecutionResult
from coderunner.judge.as_json import schema_text
from coderunner.judge.problem.one_file import ProblemFile

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"
SCHEMAS = {
    "execution-request": ExecutionRequest,
    "execution-result": ExecutionResult,
    "problem-file": ProblemFile,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, kind in SCHEMAS.items():
        (FOLDER / f"{name}.json").write_text(schema_text(kind))
