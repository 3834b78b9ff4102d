"""A user whose programs watch as many descriptors as the kernel lets them: nobody else's fault."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from coderunner.engines import open_engine
from coderunner.errors import EngineUnavailable
from coderunner.workspace import Workspace
from tests.engines.bench import Bench
from tests.engines.every import EMBEDDED
from tests.engines.held import held, held_with_children
from tests.support import require_sandbox

pytestmark = pytest.mark.engines


@contextmanager
def no_watches(kinds: tuple[str, ...] = ("add_reader", "add_writer")) -> Iterator[None]:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    loop = asyncio.get_running_loop()
    with pytest.MonkeyPatch.context() as patch:
        for kind in kinds:
            patch.setattr(loop, kind, refuse)
        yield


@pytest.mark.parametrize("name", EMBEDDED)
async def test_an_engine_that_cannot_start_leaves_nothing(name: str, workspace: Workspace) -> None:
    if name != "process":
        require_sandbox()
    engine = open_engine(name)
    before = held_with_children()
    with no_watches(), pytest.raises(EngineUnavailable) as caught:
        await Bench(engine, workspace).sh("cat", stdin=b"x")
    assert "fs.epoll.max_user_watches" in caught.value.hint
    assert held_with_children() == before
    assert (await Bench(engine, workspace).sh("cat", stdin=b"x")).stdout.data == b"x"
    await engine.aclose()


@pytest.mark.parametrize("kind", ["add_reader", "add_writer"])
async def test_a_run_that_cannot_be_watched_is_ended(kind: str, workspace: Workspace) -> None:
    require_sandbox()
    engine = open_engine("linux")
    bench = Bench(engine, workspace)
    await bench.sh("true")
    before = held()
    with no_watches((kind,)), pytest.raises(EngineUnavailable) as caught:
        await bench.sh("sleep 30", stdin=bytes(1_000_000))
    assert "fs.epoll.max_user_watches" in caught.value.hint
    assert held() == before
    assert (await bench.sh("echo again")).stdout.data == b"again\n"
    await engine.aclose()
