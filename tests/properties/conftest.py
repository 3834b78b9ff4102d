"""Boxes for properties: hypothesis wants plain functions, and an engine lives in an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import pytest

from coderunner.engines.linux import LinuxEngine
from coderunner.model import Outcome
from coderunner.workspace import Workspace
from tests.engines.bench import Bench
from tests.support import require_sandbox


class Boxes:
    """One engine for many examples."""

    def __init__(self, loop: asyncio.Runner, bench: Bench) -> None:
        self._loop = loop
        self._bench = bench

    def run(
        self, *argv: str, stdin: bytes | None = None, limits: Mapping[str, int] | None = None
    ) -> Outcome:
        return self._loop.run(self._bench.run(*argv, stdin=stdin, **(limits or {})))


@pytest.fixture(scope="module")
def boxes() -> Iterator[Boxes]:
    require_sandbox()
    engine = LinuxEngine()
    with asyncio.Runner() as loop, Workspace() as workspace:
        yield Boxes(loop, Bench(engine, workspace))
        loop.run(engine.aclose())
