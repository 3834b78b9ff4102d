from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.server.conftest import Service
from tests.server.sessions.opened import Opened, opened


@pytest.fixture(scope="module")
def sessions() -> Iterator[Service]:
    """A service that these tests share, with two clients."""
    found = Service(
        prestart=["python"],
        tokens=["anna", "ben"],
        client_sessions=3,
        sessions=4,
        ceiling={"memory_mb": 700, "wall_ms": 60_000},
        heartbeat_seconds=0.2,
    )
    yield found
    assert found.end() == 0
    assert not [line for line in found.lines if "traceback" in line or "plain" in line]


@pytest.fixture
def client(sessions: Service) -> httpx.Client:
    return sessions.client


@pytest.fixture
def session(client: httpx.Client) -> Iterator[Opened]:
    with opened(client) as found:
        yield found
