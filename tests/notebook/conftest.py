"""Containers to run code in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.docker.daemon import IMAGE, connect

NewContainer = Callable[..., Any]


@pytest.fixture(scope="session")
def docker(dockerd: str) -> Iterator[Any]:
    with contextlib.closing(connect(dockerd)) as client:
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
