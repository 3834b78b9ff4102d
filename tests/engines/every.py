"""Every engine, as tests use them. Docker is two: with the usual runtime, and with gVisor's, which
takes about a second for each container."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from coderunner.engines import ENGINES, open_engine
from coderunner.engines.base import Engine, Process
from coderunner.engines.docker import DockerEngine
from coderunner.model import Job
from coderunner.settings import DockerSettings, Settings
from tests.docker.daemon import IMAGE, RUNSC, connect
from tests.support import leave_out, require_sandbox

EMBEDDED = ["linux", "process"]  # those that work within this machine and this process
GVISOR = "docker-runsc"
CONTAINERS = ["docker", GVISOR]
_MARKS = {
    # An ordinary user may not use a daemon.
    "docker": [pytest.mark.as_root, pytest.mark.docker],
    GVISOR: [pytest.mark.as_root, pytest.mark.docker, pytest.mark.gvisor],
}


def engine_params(names: Iterable[str] = (*ENGINES, GVISOR)) -> list[Any]:
    """Their names, with the marks of those that need a daemon."""
    return [pytest.param(name, marks=_MARKS.get(name, [])) for name in sorted(names)]


def settings_for_tests(request: pytest.FixtureRequest, name: str, **more: Any) -> Settings:
    engine, _, runtime = name.partition("-")
    if engine == "docker":
        host = request.getfixturevalue("dockerd")
        if runtime:
            with contextlib.closing(connect(host)) as client:
                require_runtime(client, runtime)
        kept = 4 if more.get("warm") else 0  # containers that are used again
        more["docker"] = DockerSettings(host=host, image=IMAGE, runtime=runtime, warm=kept)
    return Settings(engine=engine, **more)


def require_runtime(client: Any, name: str) -> None:
    if name not in client.info()["Runtimes"]:
        leave_out(f"this Docker has no runtime {name}", fix=f"apt-get install {RUNSC}")


def engine_for_tests(request: pytest.FixtureRequest, name: str) -> Engine:
    if name == "linux":
        require_sandbox()
    settings = settings_for_tests(request, name)
    return open_engine(settings.engine, settings)


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
