"""A real service: a process of its own, on a port of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

_PATIENCE_S = 60
# As an ordinary user the meters are sampled here; the walls are the same.
LEVEL = "full" if os.geteuid() == 0 else "sampled"


class Service:
    """`coderunner serve`, and a client on this machine."""

    def __init__(self, **settings: object) -> None:
        named = {f"CODERUNNER_SERVER__{name.upper()}": value for name, value in settings.items()}
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in named.items()}
        words = [sys.executable, "-m", "coderunner", "serve", "--host", "127.0.0.1"]
        self.lines: list[dict[str, Any]] = []
        self._serving = threading.Event()
        self.process = subprocess.Popen(
            [*words, "--port", "0", "--isolation", LEVEL],
            env={**os.environ, **texts},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()
        self._serving.wait(_PATIENCE_S)
        found = [line for line in self.lines if line.get("message") == "serving"]
        if not found:
            self.end()
            raise AssertionError(f"the service did not start: {self.lines}")
        self.port = found[0]["port"]
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.url, timeout=_PATIENCE_S)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            try:
                self.lines.append(json.loads(line))
            except ValueError:
                self.lines.append({"plain": line})
            if self.lines[-1].get("message") == "serving":
                self._serving.set()
        self._serving.set()

    def execute(self, code: str, language: str = "python", **more: Any) -> httpx.Response:
        return self.client.post(f"/execute/{language}", json={"code": code}, **more)

    def end(self, number: int = signal.SIGTERM) -> int:
        with contextlib.suppress(AttributeError):
            self.client.close()
        self.process.send_signal(number)
        try:
            return self.process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self._listener.join()
            assert self.process.stderr is not None
            self.process.stderr.close()


ServiceMaker = Callable[..., Service]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One that tests share, with the settings that it has by itself."""
    found = Service(tokens_file=str(tmp_path_factory.mktemp("tokens") / "tokens"))
    yield found
    assert found.end() == 0
    assert not [line for line in found.lines if "traceback" in line or "plain" in line]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[ServiceMaker]:
    """For tests that want one of their own: `serve(timeout_ms=500)`."""
    with contextlib.ExitStack() as stack:

        def start(**settings: object) -> Service:
            found = Service(**{"tokens_file": str(tmp_path / "tokens"), **settings})
            stack.callback(lambda: found.process.poll() is None and found.end())
            return found

        yield start
