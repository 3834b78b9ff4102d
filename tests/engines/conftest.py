"""Fixtures for tests that start real process trees."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator

import pytest

from coderunner.engines.linux import LinuxEngine
from coderunner.engines.linux.boxes import sampling
from coderunner.engines.process import ProcessEngine
from coderunner.workspace import Workspace
from coderunner.workspace.root import process_root
from tests.engines.bench import Bench
from tests.engines.process_runs import Run


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


@pytest.fixture
async def process_engine(workspace: Workspace) -> AsyncIterator[ProcessEngine]:
    """The process engine, which must leave nothing behind: no process, no fd, no directory."""
    engine = ProcessEngine()
    before = set(os.listdir("/proc/self/fd"))
    yield engine
    await engine.aclose()
    assert sampling.tree(os.getpid()) == [os.getpid()]
    assert set(os.listdir("/proc/self/fd")) <= before
    assert len(os.listdir(process_root())) <= 1  # the test's own workspace


@pytest.fixture
def run(process_engine: ProcessEngine, workspace: Workspace) -> Run:
    """Short ways to run things on the process engine."""
    return Run(process_engine, workspace)
