"""numpy: a library in C with threads, random state and filters of warnings, loaded ahead."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from coderunner import File, Program, Settings
from coderunner.settings import PRELOAD
from tests.support import leave_out, require_sandbox
from tests.warm.pair import Pair, facts, open_pair

pytestmark = [pytest.mark.engines, pytest.mark.asyncio(loop_scope="module")]

SOURCES = {
    "what comes with it": "import sys, numpy; print(list(sys.modules)); print(sorted(vars(numpy)))",
    "filters of warnings": "import numpy, warnings; print(warnings.filters)",
    "a warning": "import numpy as np; print(np.array([1, 2]) / 0)",
    "an error": "import numpy as np; np.zeros(2) + np.zeros(3)",
    "seeded numbers": (
        "import numpy as np; np.random.seed(1)\n"
        "print(np.random.rand(3), np.random.default_rng(1).random(3))"
    ),
    "threads of its own": (
        "import numpy as np; a = np.arange(360_000.0).reshape(600, 600)\n"
        "print((a @ a).sum(), np.linalg.norm(a))"
    ),
    "after a fork": (
        "import numpy as np, multiprocessing\n"
        "def f(x): return float((np.ones((300, 300)) * x @ np.ones((300, 300)))[0, 0])\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(f, [1, 2]))"
    ),
    "not imported": "import sys; print(list(sys.modules), 'numpy' in sys.modules)",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair() -> AsyncIterator[Pair]:
    require_sandbox()
    if importlib.util.find_spec("numpy") is None:
        leave_out("the environment of the tests has no numpy", fix="make clean test")
    settings = Settings(
        engine="linux",
        toolchains={"python": sys.executable},
        preload=[*PRELOAD, "numpy"],
    )
    async with open_pair(settings) as pair:
        yield pair


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
async def test_warm_is_as_cold(pair: Pair, source: str) -> None:
    program = _program(source)
    assert facts(await pair.run_warm(program)) == facts(await pair.run_cold(program))


async def test_it_is_loaded_ahead(pair: Pair) -> None:
    """Its classes are there before it is imported."""
    look = _program("print(any(c.__module__ == 'numpy' for c in object.__subclasses__()))")
    assert (await pair.run_warm(look)).stdout.text == "True\n"
    assert (await pair.run_cold(look)).stdout.text == "False\n"


@pytest.mark.parametrize("call", ["random.rand()", "random.default_rng().random()"])
async def test_no_two_runs_share_random_numbers(pair: Pair, call: str) -> None:
    look = _program(f"import numpy; print(numpy.{call})")
    assert len({(await pair.run_warm(look)).stdout.data for _ in range(3)}) == 3


def _program(source: str) -> Program:
    return Program(language="python", files=(File("main.py", source.encode()),))
