"""Every engine, as tests use them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coderunner.engines import ENGINES, open_engine
from coderunner.engines.base import Engine, Process
from coderunner.engines.docker import DockerEngine
from coderunner.model import Job
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


class UsedBefore(DockerEngine):
    """Every job finds a container in which another one was, which has left what it could."""

    async def start(self, job: Job) -> Process:
        if not await self.is_warm(job):
            before = await super().start(replace(job, argv=("/bin/sh", "-c", _MESS)))
            before.close_stdin()
            await before.wait()
            await before.close()
        return await super().start(job)


_MESS = (
    "echo left; echo left >&2; sleep 60 & for d in . /tmp /dev/shm; do echo left > $d/left; done"
)
