"""Containers to run code in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.notebook.dockerd import IMAGE, docker_client

NewContainer = Callable[..., Any]


@pytest.fixture(scope="session")
def docker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with docker_client(tmp_path_factory.mktemp("docker")) as client:
        yield client


@pytest.fixture
def new_container(docker: Any) -> Iterator[NewContainer]:
    made: list[Any] = []

    def new(**options: Any) -> Any:
        usual = {"network_mode": "none", "init": True, "detach": True, "pids_limit": 128}
        container = docker.containers.run(IMAGE, ["sleep", "infinity"], **{**usual, **options})
        made.append(container)
        return container

    yield new
    for container in made:
        container.remove(force=True)


@pytest.fixture
def container(new_container: NewContainer) -> Any:
    return new_container(mem_limit="256m", memswap_limit="256m")
