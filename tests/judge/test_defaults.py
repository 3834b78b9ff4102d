"""What a request does not say, the settings of the installation do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coderunner.judge import CodeRunner, ExecutionRequest, ExecutionStatus, TestCase
from coderunner.judge.defaults import defaults
from tests.support import require_sandbox

SET = {
    "TIMEOUT_MS": "4321",
    "TOTAL_TIMEOUT_MS": "54321",
    "MEMORY_LIMIT_MB": "123",
    "CPU_LIMIT": "0.5",
    "KEEP_OUTPUT_KB": "7",
    "PROCESSES": "2",
}
THREADS = """
import threading, time
for _ in range(4):
    threading.Thread(target=time.sleep, args=(0.1,)).start()
print("all")
"""


@pytest.fixture(autouse=True)
def set_by_somebody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in SET.items():
        monkeypatch.setenv(f"CODERUNNER_JUDGE__{name}", value)
    defaults.cache_clear()
    yield
    defaults.cache_clear()


def request(code: str = "", **more: int) -> ExecutionRequest:
    return ExecutionRequest("one", code, "python", [TestCase("one", "", "all")], **more)  # type: ignore[arg-type]  # all of them are numbers


@pytest.mark.unit
def test_a_request_has_them_unless_it_says_otherwise() -> None:
    made = request(memory_limit_mb=64)
    assert (made.timeout_ms, made.total_timeout_ms) == (4321, 54_321)
    assert (made.memory_limit_mb, made.cpu_limit, made.keep_output_kb) == (64, 0.5, 7)


@pytest.mark.unit
def test_one_in_json_has_them_too() -> None:
    text = '{"request_id": "one", "code": "", "language": "python", "test_cases": []}'
    assert ExecutionRequest.from_json(text).timeout_ms == 4321


@pytest.mark.engines
def test_no_more_processes_than_are_set() -> None:
    require_sandbox()
    result = CodeRunner().execute_sync(request(THREADS))
    assert result.status is ExecutionStatus.RUNTIME_ERROR
