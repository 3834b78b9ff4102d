"""A program in a warm interpreter cannot be told apart from one in a cold interpreter."""

from __future__ import annotations

import pytest

from coderunner import File, Program
from tests.warm.cases import Case, cases
from tests.warm.pair import Pair, facts

pytestmark = [pytest.mark.engines, pytest.mark.asyncio(loop_scope="module")]


@pytest.mark.parametrize("case", [*cases()], ids=lambda case: case.name)
async def test_warm_is_as_cold(pair: Pair, case: Case) -> None:
    warm = await pair.run_warm(case.program, case.stdin)
    cold = await pair.run_cold(case.program, case.stdin)
    assert facts(warm) == facts(cold)


# What no two runs may have in common, and what each could have brought along from the interpreter
# that it was forked from.
OF_ONE_RUN = {
    "random": "import random; print(random.random())",
    "a generator of its own": "import random; print(random.Random().random())",
    "numbers from the system": "import os; print(os.urandom(8))",
    "secrets": "import secrets; print(secrets.token_hex())",
    "uuid1": "import uuid; print(uuid.uuid1())",
    "uuid4": "import uuid; print(uuid.uuid4())",
    "temporary names": "import tempfile; print(tempfile.mktemp())",
    "the key of multiprocessing": (
        "import multiprocessing as m; print(bytes(m.current_process().authkey))"
    ),
    "ssl": "import ssl; print(ssl.RAND_bytes(8))",
    "boundaries of e-mails": "import email.generator as g; print(g._make_boundary())",
}


@pytest.mark.parametrize("source", OF_ONE_RUN.values(), ids=OF_ONE_RUN.keys())
async def test_no_two_runs_share_it(pair: Pair, source: str) -> None:
    seen = {(await pair.run_warm(_program(source))).stdout.data for _ in range(4)}
    assert len(seen) == 4
    assert b"" not in seen


# What a program can find out if it looks for it, and why. (docs/inside.md has the same list.)
KNOWN_DIFFERENCES = {
    "classes of modules that were not imported are there": (
        "print(any(c.__module__ == 'statistics' for c in object.__subclasses__()))"
    ),
    "libraries that were not imported are mapped": (
        "print('/_ctypes.' in open('/proc/self/maps').read())"
    ),
    "the collector does not look at what was there before": (
        "import gc; print(gc.get_freeze_count() > 0)"
    ),
    "submodules that a package imports are its last names, not where it imports them": (
        "import ctypes; names = list(vars(ctypes))\n"
        "print(names.index('_endian') > names.index('BigEndianStructure'))"
    ),
}


@pytest.mark.parametrize("source", KNOWN_DIFFERENCES.values(), ids=KNOWN_DIFFERENCES.keys())
async def test_known_difference(pair: Pair, source: str) -> None:
    """If one of them is gone, take it from the list."""
    assert (await pair.run_cold(_program(source))).stdout.text == "False\n"
    assert (await pair.run_warm(_program(source))).stdout.text == "True\n"


async def test_one_callback_more_is_registered(pair: Pair) -> None:
    """To know when all of them have been called."""
    count = _program("import atexit; print(atexit._ncallbacks())")
    cold = int((await pair.run_cold(count)).stdout.text)
    assert int((await pair.run_warm(count)).stdout.text) == cold + 1


async def test_the_seed_of_hashes_and_addresses_are_shared(pair: Pair) -> None:
    """By the forks of one interpreter. The spawner replaces it from time to time."""
    look = _program("print(hash('a'), id(object))")
    seen = {(await pair.run_warm(look)).stdout.data for _ in range(3)}
    assert len(seen) == 1
    assert len({(await pair.run_cold(look)).stdout.data for _ in range(3)}) == 3


def _program(source: str) -> Program:
    return Program(language="python", files=(File("main.py", source.encode()),))
