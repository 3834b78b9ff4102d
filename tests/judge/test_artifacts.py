"""Code and results as artifacts, small and large."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.errors import InvalidInput
from coderunner.judge import (
    Artifact,
    DirectoryStore,
    ExecutionResult,
    ExecutionStatus,
    Language,
    TestResult,
    TestStatus,
    artifact_to_execution_request,
    execution_result_to_artifact,
)
from coderunner.judge.artifacts import content_of
from coderunner.judge.summary import concluded

pytestmark = pytest.mark.unit

CODE = Artifact("code", inline_content="print(1)", metadata={"language": "cpp"})


def result(tests: int) -> ExecutionResult:
    found = [TestResult(f"t{n}", TestStatus.PASSED, "out", "out", 3, 4) for n in range(tests)]
    empty = ExecutionResult("r-1", ExecutionStatus.ALL_FAILED, found, 12, None, "", None)
    return concluded(empty)


def test_a_request_from_an_artifact() -> None:
    cases: list[dict[str, object]] = [
        {"id": "a", "input": "1", "expected": "2", "hidden": True, "description": "d"},
        {"expected_output": "3"},
    ]
    request = artifact_to_execution_request(CODE, cases, "id-1", 100, 200)
    assert (request.request_id, request.code, request.language) == (
        "id-1",
        "print(1)",
        Language.CPP,
    )
    assert (request.timeout_ms, request.total_timeout_ms) == (100, 200)
    first, second = request.test_cases
    assert (first.id, first.input, first.expected_output) == ("a", "1", "2")
    assert (first.is_hidden, first.description) == (True, "d")
    assert (second.id, second.input, second.expected_output) == ("test_1", "", "3")
    assert second.is_hidden is False


def test_defaults() -> None:
    one, other = (artifact_to_execution_request(CODE, []) for _ in range(2))
    assert (one.timeout_ms, one.total_timeout_ms) == (5_000, 60_000)
    assert one.request_id != other.request_id


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({}, Language.PYTHON),
        ({"language": "Rust"}, Language.RUST),
        ({"language": "c++"}, Language.CPP),
        ({"language": "cobol"}, Language.PYTHON),
        ({"language": None}, Language.PYTHON),
    ],
)
def test_its_language(metadata: dict[str, object], language: Language) -> None:
    artifact = Artifact("code", inline_content="x", metadata=metadata)
    assert artifact_to_execution_request(artifact, []).language is language


def test_a_small_result_travels_inside() -> None:
    artifact, content = execution_result_to_artifact(result(2))
    assert content is None
    assert artifact.artifact_type == "test_result"
    assert artifact.content_ref is None
    assert artifact.metadata == {"status": "all_passed", "passed": 2, "total": 2}
    assert '"time_ms": 3' in (artifact.inline_content or "")
    assert "out" not in (artifact.inline_content or "").replace("timeout", "")


def test_a_large_result_is_a_reference_and_a_content() -> None:
    artifact, content = execution_result_to_artifact(result(50))
    assert artifact.content_ref == "beads:execution/results/r-1"
    assert artifact.inline_content is None
    assert content is not None
    assert content.count('"id"') == 50
    named, _ = execution_result_to_artifact(result(50), "mine")
    assert named.content_ref == "beads:mine"


def test_the_border_is_a_kilobyte() -> None:
    sizes = []
    for tests in range(1, 20):
        artifact, content = execution_result_to_artifact(result(tests))
        text = artifact.inline_content if content is None else content
        assert text is not None
        sizes.append(len(text.encode()))
        assert (content is None) == (len(text.encode()) < 1024)
    assert sizes[0] < 1024 < sizes[-1]


def test_a_large_artifact_needs_a_store() -> None:
    large = Artifact("code", content_ref="beads:code/1", metadata={"language": "python"})
    with pytest.raises(ValueError, match="Large artifacts must be resolved before execution"):
        artifact_to_execution_request(large, [])


def test_large_artifacts_go_round_with_a_store(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    store.put("code/1", "print('ä')\r\n")
    large = Artifact("code", content_ref="beads:code/1")
    assert artifact_to_execution_request(large, [], store=store).code == "print('ä')\r\n"
    artifact, content = execution_result_to_artifact(result(50), store=store)
    assert content_of(artifact, store) == content


def test_what_is_not_in_the_store_is_said(tmp_path: Path) -> None:
    large = Artifact("code", content_ref="beads:gone")
    with pytest.raises(InvalidInput, match="not in the store: 'gone'"):
        artifact_to_execution_request(large, [], store=DirectoryStore(tmp_path))


@pytest.mark.parametrize(
    "key", ["../up", "/etc/passwd", "a/../../b", "a//b", ".hidden", "a\0b", "ü", "x" * 300, "a/b/"]
)
def test_no_key_leads_out_of_the_directory(tmp_path: Path, key: str) -> None:
    inside = tmp_path / "store"
    store = DirectoryStore(inside)
    store.put(key, "text")
    assert store.get(key) == "text"
    everything = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(everything) == 1
    assert everything[0].is_relative_to(inside)


def test_keys_are_not_in_each_others_way(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    for key in ("a", "a/b", "a/b/c", "A"):
        store.put(key, key)
    store.put("a", "again")
    assert [store.get(key) for key in ("a", "a/b", "a/b/c", "A")] == ["again", "a/b", "a/b/c", "A"]
    with pytest.raises(KeyError):
        store.get("b")


@pytest.mark.parametrize("key", ["", "x" * 2000])
def test_a_key_is_not_empty_and_not_endless(tmp_path: Path, key: str) -> None:
    with pytest.raises(InvalidInput, match="must have 1 to 1024 characters"):
        DirectoryStore(tmp_path).put(key, "")
