"""Engines on a real daemon, that leave nothing on it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from coderunner.engines.docker import DockerEngine
from coderunner.engines.docker.owner import OWNER, UNTIL
from coderunner.settings import DockerSettings
from coderunner.workspace import Workspace
from tests.docker.daemon import IMAGE, connect
from tests.engines.bench import Bench

NewEngine = Callable[..., DockerEngine]


@pytest.fixture
def client(dockerd: str) -> Iterator[Any]:
    with contextlib.closing(connect(dockerd)) as client:
        yield client


def ours(client: Any) -> tuple[list[str], list[str]]:
    """Containers and volumes."""
    containers = client.api.containers(all=True, filters={"label": OWNER})
    volumes = client.volumes.list(filters={"label": OWNER})
    return [one["Id"] for one in containers], [one.name for one in volumes]


def with_a_job(client: Any) -> list[str]:
    """Containers that run and are to end some day."""
    found = client.api.containers(filters={"label": UNTIL, "status": "running"})
    return [one["Id"] for one in found]


def that_wait(client: Any) -> list[str]:
    found = client.api.containers(filters={"label": OWNER, "status": "running"})
    return [one["Id"] for one in found if UNTIL not in one["Labels"]]


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace() as workspace:
        yield workspace


@pytest.fixture
async def new_engine(dockerd: str, client: Any) -> AsyncIterator[NewEngine]:
    before = ours(client)
    made: list[DockerEngine] = []

    def new(**settings: Any) -> DockerEngine:
        engine = DockerEngine(DockerSettings(**{"host": dockerd, "image": IMAGE, **settings}))
        made.append(engine)
        return engine

    yield new
    for engine in made:
        await engine.aclose()
    assert ours(client) == before


@pytest.fixture
def bench(new_engine: NewEngine, workspace: Workspace) -> Bench:
    return Bench(new_engine(), workspace, image=True)
