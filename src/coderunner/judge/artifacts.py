"""Code and results as a fleet's artifacts: small ones carry their content, large ones a reference
to where it is kept.

    Artifact(inline_content="…")            up to 1 KB
    Artifact(content_ref="beads:KEY")       and the content in an ArtifactStore
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import tempfile
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from coderunner.errors import InvalidInput
from coderunner.judge.language import Language
from coderunner.judge.request import (
    ExecutionRequest,
    TestCase,
)
from coderunner.judge.result import ExecutionResult, TestStatus

_INLINE_BYTES = 1024  # what is shorter travels inside the artifact
_SCHEME = "beads:"
_PLAIN_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LONGEST_KEY = 1024

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Artifact:
    """Something that one member of a fleet hands to another."""

    artifact_type: str
    content_ref: str | None = None  # where the content is, if it is not here
    inline_content: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class ArtifactStore(Protocol):
    """Where large contents are kept, by key."""

    def put(self, key: str, content: str) -> None: ...

    def get(self, key: str) -> str:
        """Raises KeyError for what is not there."""
        ...


class DirectoryStore:
    """Contents as files in a directory."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)

    def put(self, key: str, content: str) -> None:
        """Whoever reads meanwhile gets the old content or the new one, never a part."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".draft-")
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(content)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise

    def get(self, key: str) -> str:
        try:
            return self._path(key).read_bytes().decode("utf-8")
        except FileNotFoundError:
            raise KeyError(key) from None

    def _path(self, key: str) -> Path:
        """A key looks like a path, and nobody may choose one outside of the directory. What is no
        plain name is called by its hash."""
        if not key or len(key) > _LONGEST_KEY:
            raise InvalidInput(f"an artifact's key must have 1 to {_LONGEST_KEY} characters")
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        parts = key.split("/")
        plain = all(_PLAIN_PART.fullmatch(part) for part in parts)
        # The ending keeps a key that is the beginning of another from being in its way.
        return (
            self.directory.joinpath(*parts[:-1], f"{parts[-1]}.{digest[:16]}")
            if plain
            else (self.directory / "other" / digest)
        )


def artifact_to_execution_request(
    artifact: Artifact,
    test_cases: Iterable[Mapping[str, Any]],
    request_id: str | None = None,
    timeout_ms: int | None = None,
    total_timeout_ms: int | None = None,
    *,
    store: ArtifactStore | None = None,
) -> ExecutionRequest:
    """A request to run the code of an artifact. A large one is fetched from the store. Times that
    are not given are those of any request."""
    times = {"timeout_ms": timeout_ms, "total_timeout_ms": total_timeout_ms}
    given: dict[str, Any] = {name: ms for name, ms in times.items() if ms is not None}
    return ExecutionRequest(
        request_id=request_id or str(uuid.uuid4()),
        code=content_of(artifact, store),
        language=_language(artifact),
        test_cases=[_test_case(index, given) for index, given in enumerate(test_cases)],
        **given,
    )


def execution_result_to_artifact(
    result: ExecutionResult,
    beads_key: str | None = None,
    *,
    store: ArtifactStore | None = None,
) -> tuple[Artifact, str | None]:
    """The result as an artifact; and its content, if that is too large to travel inside. With a
    store it has been put there already. Neither input nor output of any test is part of it."""
    passed = sum(test.status is TestStatus.PASSED for test in result.test_results)
    metadata = {
        "status": result.status.value,
        "passed": passed,
        "total": len(result.test_results),
    }
    content = json.dumps(_content(result, metadata), indent=2)
    if len(content.encode()) < _INLINE_BYTES:
        return Artifact("test_result", None, content, metadata), None
    key = beads_key or f"execution/results/{result.request_id}"
    if store is not None:
        store.put(key, content)
    return Artifact("test_result", f"{_SCHEME}{key}", None, metadata), content


def content_of(artifact: Artifact, store: ArtifactStore | None = None) -> str:
    """What an artifact holds, wherever it is."""
    if artifact.inline_content is not None:
        return artifact.inline_content
    if artifact.content_ref is None:
        return ""
    if store is None:
        raise InvalidInput(
            "Large artifacts must be resolved before execution",
            hint="pass the store that has them: store=DirectoryStore(…)",
        )
    key = artifact.content_ref.removeprefix(_SCHEME)
    try:
        return store.get(key)
    except KeyError:
        raise InvalidInput(
            f"the artifact's content is not in the store: {key!r:.200}",
            hint="was it put there, and under this key?",
        ) from None


def _language(artifact: Artifact) -> Language:
    """Artifacts that name no language, or none that is known, are taken for Python."""
    name = str(artifact.metadata.get("language", Language.PYTHON.value)).lower()
    try:
        return Language(name)
    except ValueError:
        _log.warning("an artifact's language %.80r is not known: taken for Python", name)
        return Language.PYTHON


def _test_case(index: int, given: Mapping[str, Any]) -> TestCase:
    return TestCase(
        id=given.get("id", f"test_{index}"),
        input=given.get("input", ""),
        expected_output=given.get("expected", given.get("expected_output", "")),
        is_hidden=given.get("hidden", given.get("is_hidden", False)),
        timeout_ms=given.get("timeout_ms"),
        description=given.get("description", ""),
    )


def _content(result: ExecutionResult, metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **metadata,
        "total_time_ms": result.total_time_ms,
        "summary": result.for_author().summary,
        "test_results": [
            {
                "id": test.test_id,
                "status": test.status.value,
                "time_ms": test.execution_time_ms,
                "memory_kb": test.memory_used_kb,
            }
            for test in result.test_results
        ],
    }
