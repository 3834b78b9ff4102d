from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.conftest import Service


@pytest.fixture(scope="module")
def live() -> Iterator[Service]:
    """A service that these tests share."""
    found = Service(prestart=["python"], tokens=["anna"])
    yield found
    assert found.end() == 0
    assert not [line for line in found.lines if "traceback" in line or "plain" in line]
