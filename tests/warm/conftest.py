from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from coderunner import Settings
from tests.support import require_sandbox, require_toolchain
from tests.warm.pair import Pair, open_pair


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair() -> AsyncIterator[Pair]:
    require_sandbox()
    require_toolchain("python")
    async with open_pair(Settings(engine="linux")) as pair:
        yield pair
