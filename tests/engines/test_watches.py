"""A user whose programs watch as many descriptors as the kernel lets them: nobody else's fault."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from coderunner.errors import EngineUnavailable
from coderunner.workspace import Workspace
from tests.engines.bench import Bench
from tests.engines.every import EMBEDDED, engine_for_tests
from tests.engines.held import held, held_with_children

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
async def test_an_engine_that_cannot_start_leaves_nothing(
    name: str, request: pytest.FixtureRequest, workspace: Workspace
) -> None:
    bench = Bench(engine_for_tests(request, name), workspace)
    before = held_with_children()
    with no_watches(), pytest.raises(EngineUnavailable) as caught:
        await bench.sh("cat", stdin=b"x")
    assert "fs.epoll.max_user_watches" in caught.value.hint
    assert held_with_children() == before
    assert (await bench.sh("cat", stdin=b"x")).stdout.data == b"x"
    await bench.engine.aclose()


@pytest.mark.parametrize("kind", ["add_reader", "add_writer"])
async def test_a_run_that_cannot_be_watched_is_ended(
    kind: str, request: pytest.FixtureRequest, workspace: Workspace
) -> None:
    engine = engine_for_tests(request, "linux")
    bench = Bench(engine, workspace)
    await bench.sh("true")
    before = held()
    with no_watches((kind,)), pytest.raises(EngineUnavailable) as caught:
        await bench.sh("sleep 30", stdin=bytes(1_000_000))
    assert "fs.epoll.max_user_watches" in caught.value.hint
    assert held() == before
    assert (await bench.sh("echo again")).stdout.data == b"again\n"
    await engine.aclose()
