"""Every engine, as tests use them."""

from __future__ import annotations

from typing import Any

import pytest

from coderunner.engines import ENGINES, open_engine
from coderunner.engines.base import Engine
from coderunner.settings import DockerSettings, Settings
from tests.docker.daemon import IMAGE
from tests.support import require_sandbox

EMBEDDED = ["linux", "process"]  # those that work within this machine and this process


def engine_params() -> list[Any]:
    """Their names. Docker's tests are root's: an ordinary user may not use a daemon."""
    return [
        pytest.param(name, marks=pytest.mark.as_root) if name == "docker" else name
        for name in sorted(ENGINES)
    ]


def settings_for_tests(request: pytest.FixtureRequest, name: str, **more: Any) -> Settings:
    if name == "docker":
        kept = 4 if more.get("warm") else 0  # containers that are used again
        host = request.getfixturevalue("dockerd")
        more["docker"] = DockerSettings(host=host, image=IMAGE, warm=kept)
    return Settings(engine=name, **more)


def engine_for_tests(request: pytest.FixtureRequest, name: str) -> Engine:
    if name == "linux":
        require_sandbox()
    return open_engine(name, settings_for_tests(request, name))
