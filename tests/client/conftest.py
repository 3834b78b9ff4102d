from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coderunner import Client
from tests.server.conftest import Service, serve

__all__ = ["serve"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One that these tests share. All of them are one client, and none is about that."""
    found = Service(
        tokens_file=str(tmp_path_factory.mktemp("tokens") / "tokens"),
        prestart=["python"],
        allowed_env=["GREETING"],
        client_rate=100_000,
        client_burst=100_000,
    )
    yield found
    assert found.end() == 0
    assert not [line for line in found.lines if "traceback" in line or "plain" in line]


@pytest.fixture
def client(service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Client]:
    monkeypatch.delenv("CODERUNNER_TOKEN", raising=False)
    with Client(service.url) as client:
        yield client
