"""`POST /v1/judge`: the judge, over HTTP."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from coderunner.judge import ExecutionResult, View
from tests.server.conftest import Service
from tests.server.v1.boxes import box_of
from tests.support import require_toolchain

pytestmark = pytest.mark.integration

Json = dict[str, Any]
SUM = "print(sum(map(int, input().split())))"
TESTS: list[Json] = [
    {"id": "open", "input": "1 2", "expected_output": "3"},
    {"id": "secret", "input": "20 22", "expected_output": "42", "is_hidden": True},
]


def asked(code: str = SUM, **more: Any) -> Json:
    return {
        "request_id": "1", "language": "python", "code": code, "test_cases": TESTS, **more,
    }  # fmt: skip


def judged(client: httpx.Client, view: str = "", **more: Any) -> ExecutionResult:
    response = client.post("/v1/judge", json=asked(**more), params={"view": view} if view else {})
    assert response.status_code == 200, response.text
    return ExecutionResult.from_json(response.text)


def refused(client: httpx.Client, status: int = 422, **more: Any) -> str:
    response = client.post("/v1/judge", json=asked(**more))
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    return f"{problem['detail']} {problem.get('hint', '')}"


def test_a_right_program_passes(client: httpx.Client) -> None:
    result = judged(client)
    assert result.status.value == "all_passed"
    assert [test.status.value for test in result.test_results] == ["passed", "passed"]
    assert (result.request_id, result.view) == ("1", View.AUTHOR)


def test_wrong_failing_and_slow_programs_do_not(client: httpx.Client) -> None:
    for code, status in (
        ("print(3)", "some_passed"),
        ("print(1 / 0)", "runtime_error"),
        ("x = bytearray(10**9)", "memory_exceeded"),
    ):
        assert judged(client, code=code).status.value == status
    assert judged(client, code="while True: pass", timeout_ms=300).status.value == "timeout"


def test_what_does_not_compile_is_a_result(client: httpx.Client) -> None:
    require_toolchain("c")
    result = judged(client, language="c", code="int main(void) { oops }")
    assert result.status.value == "compilation_error"
    assert "oops" in (result.compilation_output or "")


FORGERIES = (
    "print(open(0).read())",
    "import sys; sys.exit(sys.stdin.read())",
    "import sys; sys.exit(int(sys.stdin.read().split()[0]))",
    "raise RuntimeError(input())",
    "import os; os.kill(os.getpid(), int(input().split()[0]))",
)


@pytest.mark.parametrize("code", FORGERIES)
def test_the_author_learns_nothing_of_hidden_tests(client: httpx.Client, code: str) -> None:
    tests = [{"id": "secret", "input": "31 8642097", "expected_output": "x", "is_hidden": True}]
    response = client.post("/v1/judge", json=asked(code, test_cases=tests))
    assert response.status_code == 200
    shown = response.json()
    for changing in ("total_time_ms", "compilation_time_ms"):
        del shown[changing]
    for test in shown["test_results"]:
        for figure in ("execution_time_ms", "cpu_time_ms", "memory_used_kb"):
            del test[figure]
    assert "8642097" not in json.dumps(shown)
    assert "31" not in json.dumps(shown)


def test_the_grader_sees_everything(client: httpx.Client) -> None:
    result = judged(client, "grader", code="print(input())")
    assert result.view is View.GRADER
    assert result.test_results[1].actual_output == "20 22\n"


def test_how_many_run_at_once_changes_nothing(client: httpx.Client) -> None:
    """With `stop_on_failure`, too, where something may have been started that is not needed."""
    tests = [
        {"id": str(n), "input": f"{n} 0", "expected_output": str(n if n % 5 else -1)}
        for n in range(1, 9)
    ]
    found = [
        judged(client, test_cases=tests, parallel=parallel, stop_on_failure=True)
        for parallel in (1, 8)
    ]
    statuses = [[test.status.value for test in result.test_results] for result in found]
    assert statuses[0] == statuses[1] == [*["passed"] * 4, "wrong_answer", *["skipped"] * 3]


def test_a_submission_is_one_run(serve: Any) -> None:
    """However many of its tests could run at once: others have their turns."""
    service: Service = serve(prestart=["python"], concurrency=1, queue=0)
    code, box = box_of("judged")
    with ThreadPoolExecutor(1) as pool:
        more = {"timeout_ms": 2500, "parallel": 4, "test_cases": TESTS[:1]}
        judging = pool.submit(service.client.post, "/v1/judge", json=asked(code, **more))
        box.wait_until_there()
        assert "coderunner_runs_now 1.0" in service.client.get("/metrics").text
        busy = service.client.post("/v1/judge", json=asked())
        assert (busy.status_code, int(busy.headers["Retry-After"]) > 0) == (503, True)
        assert judging.result().json()["status"] == "timeout"


def test_checkers_and_groups_work(client: httpx.Client) -> None:
    tests = [{"id": "a", "input": "1 2", "expected_output": "3.0000001", "group": "g"}]
    result = judged(
        client,
        test_cases=tests,
        checker={"kind": "tokens", "float_absolute_tolerance": 1e-3},
        groups=[{"id": "g", "points": 10, "scoring": "sum"}],
    )
    assert (result.score, result.max_score) == (10, 10)


def test_a_checker_that_cannot_be_used_is_a_result(client: httpx.Client) -> None:
    require_toolchain("c")
    result = judged(client, checker={"kind": "program", "language": "c", "code": "secret oops"})
    assert result.status.value == "sandbox_error"
    assert "secret" not in result.to_json().replace('"secret"', "")


ODD: list[tuple[Json, str]] = [
    ({"test_cases": []}, "No test cases"),
    ({"test_cases": None}, "test_cases"),
    ({"test_cases": [{"id": "a", "input": "", "expected_output": ""}] * 2}, "Two test cases"),
    ({"test_cases": [{"id": "a"}]}, "test_cases.0.input"),
    ({"code": " "}, "Empty code"),
    ({"code": 1}, "code"),
    ({"image": "evil"}, "image"),
    ({"timeout_ms": 0}, "timeout"),
    ({"timeout_ms": None}, "timeout"),
    ({"timeout_ms": True}, "timeout"),
    ({"timeout_ms": 61_000}, "timeout"),
    ({"total_timeout_ms": 60_001}, "total_timeout_ms=60001 is above the configured ceiling"),
    ({"memory_limit_mb": -1}, "memory"),
    ({"memory_limit_mb": 2048}, "memory"),
    ({"cpu_limit": 0}, "cpu"),
    ({"output_limit_kb": 65_537}, "output_limit_kb=65537 is above the configured ceiling"),
    ({"keep_output_kb": 20_000}, "keep_output_kb=20000 of 2 tests"),
    ({"checker": {"kind": "regex", "pattern": "("}}, "pattern"),
    ({"checker": {"kind": "regex", "pattern": "a" * 10_001}}, "pattern"),
    ({"checker": {"kind": "guess"}}, "checker"),
    ({"groups": [{"id": "g", "points": 1, "scoring": "best"}]}, "scoring"),
    (
        {"test_cases": [{"id": str(n), "input": "", "expected_output": ""} for n in range(1001)]},
        "1001 are more than 1000",
    ),
]


@pytest.mark.parametrize(("more", "names"), ODD, ids=lambda value: str(value)[:40])
def test_what_makes_no_sense_is_named(client: httpx.Client, more: Json, names: str) -> None:
    assert names in refused(client, **more)


def test_an_unknown_language_is_told(client: httpx.Client) -> None:
    assert "cobol" in refused(client, 404, language="cobol")


def test_who_leaves_has_the_submission_ended(v1: Service) -> None:
    code, box = box_of("judge")
    tests = [{"id": str(n), "input": "", "expected_output": ""} for n in range(50)]
    with pytest.raises(httpx.ReadTimeout), v1_client(v1) as leaving:
        leaving.post("/v1/judge", json=asked(code, test_cases=tests, timeout_ms=30_000))
    box.wait_until_gone()


def v1_client(v1: Service) -> httpx.Client:
    return httpx.Client(base_url=v1.url, timeout=2)
