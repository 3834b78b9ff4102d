from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.server.serving import Served, serving
from tests.support import require_sandbox


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for all tests that do not need their own."""
    require_sandbox()
    with serving(
        tmp_path_factory.mktemp("service"),
        server__allowed_env=["GREETING"],
        server__heartbeat_seconds=0.2,
    ) as served:
        yield served


@pytest.fixture
def client(service: Served) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client
