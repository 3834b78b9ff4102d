"""The judge's own names for Docker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coderunner.background import background
from coderunner.errors import InvalidProgram, StartFailed
from coderunner.judge import (
    CodeRunner,
    ContainerResult,
    ContainerRunner,
    ExecutionRequest,
    ExecutionStatus,
    Language,
    TestCase,
)
from tests.docker.conftest import ours
from tests.docker.daemon import IMAGE

pytestmark = [pytest.mark.engines, pytest.mark.as_root]

CPP = """
#include <iostream>
int main() { int x; std::cin >> x; std::cout << x * 2 << std::endl; return 0; }
"""


@pytest.fixture
async def client(client: Any) -> Any:
    """What runs in the background for this client goes with it."""
    yield client
    kept = background()
    for key in [key for key in kept._runners if isinstance(key, tuple) and key[0] == id(client)]:
        kept.call(kept._runners.pop(key).aclose())
    assert ours(client) == ([], [])


async def ran(client: Any, workspace: Path, *command: str, **more: Any) -> ContainerResult:
    given = {"stdin_data": "", "timeout_ms": 5000, "memory_limit_mb": 64, "cpu_limit": 1.0, **more}
    return await ContainerRunner(client).run(IMAGE, list(command), workspace, **given)


async def test_a_command_in_a_container(client: Any, tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text("print(int(input()) * 2)")
    result = await ran(client, tmp_path, "python3", "solution.py", stdin_data="21\n")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "42\n", "")
    assert not result.timed_out
    assert not result.memory_exceeded
    assert 1000 < result.memory_used_kb < 64 * 1024


async def test_a_timeout_keeps_what_was_printed(client: Any, tmp_path: Path) -> None:
    result = await ran(client, tmp_path, "sh", "-c", "echo partial; sleep 9", timeout_ms=400)
    assert (result.timed_out, result.exit_code, result.stdout) == (True, -1, "partial\n")
    assert result.stderr == "Execution timed out"


async def test_memory(client: Any, tmp_path: Path) -> None:
    result = await ran(client, tmp_path, "python3", "-c", "x = bytearray(200 << 20)")
    assert (result.memory_exceeded, result.timed_out, result.exit_code) == (True, False, -1)


async def test_a_crash(client: Any, tmp_path: Path) -> None:
    assert (await ran(client, tmp_path, "sh", "-c", "kill -SEGV $$")).exit_code == 139


async def test_a_command_that_is_not_there(client: Any, tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="no-such-command"):
        await ran(client, tmp_path, "no-such-command")


async def test_the_judge_on_docker(client: Any) -> None:
    images = {Language.CPP: IMAGE, Language.PYTHON: IMAGE}
    runner = CodeRunner(docker_client=client, images=images)
    for language, code in ((Language.CPP, CPP), (Language.PYTHON, "print(int(input()) * 2)")):
        request = ExecutionRequest(
            "r", code, language, [TestCase("t1", "5", "10"), TestCase("t2", "0", "0")], 5000, 30000
        )
        result = await runner.execute(request)
        assert result.status is ExecutionStatus.ALL_PASSED, result


async def test_a_language_without_an_image_is_not_supported(client: Any) -> None:
    runner = CodeRunner(docker_client=client, images={Language.CPP: IMAGE})
    request = ExecutionRequest("r", "1", Language.RUBY, [TestCase("t", "", "")], 5000, 30000)
    result = await runner.execute(request)
    assert result.error_info is not None
    assert result.error_info.code == "UNSUPPORTED_LANGUAGE"


@pytest.mark.parametrize("command", ["echo hi", []])
async def test_a_command_that_is_no_list_of_words(
    client: Any, tmp_path: Path, command: Any
) -> None:
    with pytest.raises(InvalidProgram, match="no list of words"):
        await ContainerRunner(client).run(IMAGE, command, tmp_path, "", 5000)


async def test_a_workspace_that_is_not_there(client: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidProgram, match="no directory"):
        await ran(client, tmp_path / "none", "true")
