from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.server.conftest import Service


@pytest.fixture(scope="module")
def v1() -> Iterator[Service]:
    """One that these tests share. All of them are one client, and none is about that."""
    found = Service(
        prestart=["python"],
        allowed_env=["GREETING"],
        heartbeat_seconds=0.2,
        client_rate=100_000,
        client_burst=100_000,
    )
    yield found
    assert found.end() == 0
    assert not [line for line in found.lines if "traceback" in line or "plain" in line]


@pytest.fixture
def client(v1: Service) -> httpx.Client:
    return v1.client
