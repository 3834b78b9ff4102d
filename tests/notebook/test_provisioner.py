"""Any Jupyter client, with a kernelspec that asks for our boxes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

pytestmark = [
    pytest.mark.engines,
    # jupyter_client's own: it closes its sockets when they are collected.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

SPEC = {
    "argv": ["python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
    "display_name": "Python in a box",
    "language": "python",
    "env": {"GREETING": "hello"},
    "metadata": {
        "kernel_provisioner": {"provisioner_name": "coderunner", "config": {"memory_mb": 600}}
    },
}


@pytest.fixture(params=["tcp", "ipc"])
async def manager(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Any]:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("SECRET", "of the server")
    (tmp_path / "boxed").mkdir()
    (tmp_path / "boxed" / "kernel.json").write_text(json.dumps(SPEC))
    specs = KernelSpecManager(kernel_dirs=[str(tmp_path)])
    manager = AsyncKernelManager(
        kernel_name="boxed", kernel_spec_manager=specs, transport=request.param
    )
    folder = tempfile.TemporaryDirectory()  # its name is short enough for sockets
    if request.param == "ipc":
        manager.ip = f"{folder.name}/s"
    await manager.start_kernel()
    yield manager
    await manager.shutdown_kernel(now=True)
    assert not await manager.is_alive()
    folder.cleanup()


@pytest.fixture
async def client(manager: Any) -> AsyncIterator[Any]:
    client = manager.client()
    client.start_channels(hb=False)
    await client.wait_for_ready(timeout=60)
    yield client
    client.stop_channels()


async def value(client: Any, code: str) -> str:
    heard: list[dict[str, Any]] = []
    await client.execute_interactive(
        code, allow_stdin=False, timeout=60, output_hook=lambda message: heard.append(message)
    )
    contents = [m["content"] for m in heard if m["msg_type"] in ("execute_result", "error")]
    return str(contents[-1].get("ename") or contents[-1]["data"]["text/plain"])


async def test_a_kernel_in_a_box(manager: Any, client: Any) -> None:
    assert await value(client, "x = 40\nx + 2") == "42"
    shown = "import os\nos.getcwd(), os.environ.get('SECRET'), os.environ['GREETING'], os.listdir()"
    assert await value(client, shown) == "('/workspace', None, 'hello', [])"
    assert await manager.is_alive()


async def test_interrupt_and_restart(manager: Any, client: Any) -> None:
    code = "x = 1\nimport time\nprint('here', flush=True)\nwhile True: time.sleep(1)"
    request = client.execute(code, stop_on_error=False)
    while (await client.get_iopub_msg(timeout=60))["msg_type"] != "stream":
        pass
    await manager.interrupt_kernel()
    while (reply := await client.get_shell_msg(timeout=60))["parent_header"]["msg_id"] != request:
        pass
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert await value(client, "x") == "1"
    await manager.restart_kernel(now=True)
    await client.wait_for_ready(timeout=60)
    assert await value(client, "x") == "NameError"


async def test_a_kernel_that_dies_is_known_to_be_dead(manager: Any, client: Any) -> None:
    client.execute("import os\nos._exit(3)")
    assert await manager.provisioner.wait() == 3
    assert not await manager.is_alive()


async def test_its_memory_is_limited(manager: Any, client: Any) -> None:
    client.execute("x = bytearray(2 << 30)")
    assert await manager.provisioner.wait() == -9
