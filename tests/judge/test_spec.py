"""The tests of the specification, as they are written there."""

from coderunner.judge import *  # noqa: F403
import pytest

# mypy: ignore-errors
# ruff: noqa: F405, I001
# fmt: off

pytestmark = pytest.mark.engines


@pytest.mark.asyncio
async def test_simple_python_execution():
    runner = CodeRunner()
    request = ExecutionRequest(
        request_id="unit-1",
        code="print(int(input()) * 2)",
        language=Language.PYTHON,
        test_cases=[
            TestCase(id="t1", input="5", expected_output="10"),
            TestCase(id="t2", input="0", expected_output="0"),
        ],
        timeout_ms=5000,
        total_timeout_ms=30000,
    )

    result = await runner.execute(request)

    assert result.status == ExecutionStatus.ALL_PASSED
    assert len(result.test_results) == 2
    assert all(r.status == TestStatus.PASSED for r in result.test_results)

@pytest.mark.asyncio
async def test_timeout_handling():
    runner = CodeRunner()
    request = ExecutionRequest(
        request_id="timeout-1",
        code="import time; time.sleep(10); print('done')",
        language=Language.PYTHON,
        test_cases=[TestCase(id="t1", input="", expected_output="done")],
        timeout_ms=1000,  # 1 second timeout
        total_timeout_ms=5000,
    )

    result = await runner.execute(request)

    assert result.status == ExecutionStatus.TIMEOUT

@pytest.mark.asyncio
async def test_runtime_error():
    runner = CodeRunner()
    request = ExecutionRequest(
        request_id="error-1",
        code="x = 1/0",
        language=Language.PYTHON,
        test_cases=[TestCase(id="t1", input="", expected_output="")],
        timeout_ms=5000,
        total_timeout_ms=30000,
    )

    result = await runner.execute(request)

    assert result.status == ExecutionStatus.RUNTIME_ERROR

@pytest.mark.asyncio
async def test_cpp_compilation():
    runner = CodeRunner()
    request = ExecutionRequest(
        request_id="cpp-1",
        code="""
#include <iostream>
int main() {
    int x;
    std::cin >> x;
    std::cout << x * 2 << std::endl;
    return 0;
}
""",
        language=Language.CPP,
        test_cases=[TestCase(id="t1", input="5", expected_output="10")],
        timeout_ms=5000,
        total_timeout_ms=30000,
    )

    result = await runner.execute(request)

    assert result.status == ExecutionStatus.ALL_PASSED

@pytest.mark.integration
async def test_fleet_integration():
    """Test full flow from Fleet artifact to execution."""
    # Simulate Fleet artifact
    artifact = Artifact(
        artifact_type="code",
        content_ref=None,
        inline_content="print(sum(map(int, input().split())))",
        metadata={"language": "python"},
    )

    test_cases = [
        {"id": "t1", "input": "1 2 3", "expected": "6"},
        {"id": "t2", "input": "10 20", "expected": "30"},
    ]

    # Convert and execute
    request = artifact_to_execution_request(artifact, test_cases)
    runner = CodeRunner()
    result = await runner.execute(request)

    # Convert result back to artifact
    result_artifact, large_content = execution_result_to_artifact(result)

    assert result.status == ExecutionStatus.ALL_PASSED
    assert result_artifact.artifact_type == "test_result"
    assert result_artifact.metadata["passed"] == 2
    assert large_content is None  # Small result, should be inline
