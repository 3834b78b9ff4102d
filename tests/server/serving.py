"""A real service: a process of its own, on a free port, with settings from the environment."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support import IS_ROOT

START_S = 60.0  # on a machine that does much else
END_S = 60.0
_RUNNING = re.compile(r"running on http://[^:]+:(\d+)")
_USUAL = {
    "server.prestart": ["python"],
    # An ordinary user without a cgroup has no more than that.
    "server.min_isolation": "full" if IS_ROOT else "sampled",
    # All tests are one client, and none of those is about that.
    "server.client_rate": 100_000,
    "server.client_burst": 100_000,
}


@dataclass(frozen=True)
class Served:
    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    def client(self, **more: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=START_S, trust_env=False, **more)

    def connect(self) -> socket.socket:
        """For what no client would send."""
        return socket.create_connection(self.address, timeout=START_S)

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def lines(self) -> list[dict[str, Any]]:
        """What it has logged so far."""
        return [json.loads(line) for line in self.said().splitlines()]

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit code."""
        self.process.send_signal(number)
        return self.process.wait(END_S)


@contextlib.contextmanager
def serving(folder: Path, **settings: Any) -> Iterator[Served]:
    """`serving(folder, server__queue=1)`. It has to come up and to end well."""
    log = folder / "service.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "coderunner", "serve", "--host", "127.0.0.1", "--port", "0"],
            env=_environment(folder, settings),
            stderr=stderr,
            stdin=subprocess.DEVNULL,
        )
        try:
            served = Served(process, _port(process, log), log)
            yield served
            if process.poll() is None:
                assert served.end() == 0, served.said()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _environment(folder: Path, settings: dict[str, Any]) -> dict[str, str]:
    """The settings as variables; what is no text as JSON."""
    chosen = {**_USUAL, **{name.replace("__", "."): value for name, value in settings.items()}}
    variables = {
        "CODERUNNER_" + name.replace(".", "__").upper(): _text(value)
        for name, value in chosen.items()
    }
    return {**os.environ, "CODERUNNER_CACHE_DIR": str(folder / "cache"), **variables}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """It tells where it listens once it does."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        if found := _RUNNING.search(log.read_text(encoding="utf-8")):
            return int(found[1])
        time.sleep(0.02)
    raise AssertionError(f"the service did not start:\n{log.read_text(encoding='utf-8')}")
