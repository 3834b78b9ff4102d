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


@pytest.fixture(params=["compiled", "interpreted"])
async def linux(request: pytest.FixtureRequest, workspace: Workspace) -> AsyncIterator[Bench]:
    """A workbench on the embedded engine, in both of its ways."""
    engine = LinuxEngine(compiled=request.param == "compiled")
    yield Bench(engine, workspace)
    await engine.aclose()


@pytest.fixture
async def process_engine(workspace: Workspace) -> AsyncIterator[ProcessEngine]:
    """The process engine, which must leave nothing behind: no process, no fd, no directory."""
    engine = ProcessEngine()
    processes, fds, directories = _held()
    yield engine
    await engine.aclose()
    processes_now, fds_now, directories_now = _held()
    assert processes_now <= processes
    assert fds_now <= fds
    assert directories_now <= directories


def _held() -> tuple[set[int], set[str], set[str]]:
    """The processes, fds and directories of this test run (it may have a sandbox of its own)."""
    return (
        set(sampling.tree(os.getpid())),
        set(os.listdir("/proc/self/fd")),
        set(os.listdir(process_root())),
    )


@pytest.fixture
def run(process_engine: ProcessEngine, workspace: Workspace) -> Run:
    """Short ways to run things on the process engine."""
    return Run(process_engine, workspace)
