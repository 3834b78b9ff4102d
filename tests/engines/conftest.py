"""Fixtures for tests that start real process trees."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from coderunner.engines.linux import LinuxEngine
from coderunner.workspace import Workspace
from tests.engines.bench import Bench


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace() as workspace:
        yield workspace


@pytest.fixture
async def linux(workspace: Workspace) -> AsyncIterator[Bench]:
    """A workbench on the embedded engine."""
    engine = LinuxEngine()
    yield Bench(engine, workspace)
    await engine.aclose()
