"""Modules imported ahead: those that behave save their time, those that do not are left alone."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from coderunner import File, Program, Settings
from coderunner.language import Languages
from coderunner.settings import PRELOAD
from coderunner.toolchain import Toolchains
from tests.support import require_sandbox, require_toolchain
from tests.warm.pair import Pair, facts, open_pair

pytestmark = [pytest.mark.engines, pytest.mark.asyncio(loop_scope="module")]

BEHAVE = {
    "plain": "",
    "calls_back": "import atexit; atexit.register(print, 'the end')",
    "filters": "import warnings; warnings.filterwarnings('ignore', message='mine')",
    "marks_another": "import os; os.marked = True",
    "places": "import sys, types; sys.modules['placed'] = types.ModuleType('placed')",
    "replaced": (
        "import sys, types\nclass Other(types.ModuleType): PID = PID\n"
        "sys.modules[__name__] = Other(__name__)"
    ),
    "lives_without": "try:\n    import not_there_at_all\nexcept ImportError: pass",
}
# Each does something to the process that imports it.
MISBEHAVE = {
    "fails": "raise ImportError('not today')",
    "breaks": "1 / 0",
    "exits": "import sys; sys.exit(5)",
    "crashes": "import os; os.abort()",
    "says": "print('hello')",
    "complains": "import sys; print('oh no', file=sys.stderr)",
    "warns": "import warnings; warnings.warn('mind')",
    "moves": "import os; os.chdir('/tmp')",
    "masks": "import os; os.umask(0o77)",
    "handles": "import signal; signal.signal(signal.SIGUSR1, print)",
    "blocks": "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])",
    "digs": "import sys; sys.setrecursionlimit(500)",
    "speaks": "import locale; locale.setlocale(locale.LC_ALL, 'C')",
    "sets": "import os; os.environ['SET'] = 'yes'",
    "opens": "file = open('/dev/null')",
    "threads": (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(5,), daemon=True).start()"
    ),
    "hooks": "import sys; sys.excepthook = lambda *args: print('hooked')",
    "finds": (
        "import sys\n"
        "class F:\n    def find_spec(self, *args): return None\n"
        "sys.meta_path.append(F())"
    ),
    "paths": "import sys; sys.path.append('/nowhere')",
    "builds_in": "import builtins; builtins.everywhere = 1",
    "collects": "import gc; gc.disable()",
    "forks": "import os\nif os.fork() == 0: os._exit(0)",
}  # fmt: skip

# Run at the start of the interpreter. What is registered first is called last.
AT_THE_START = (
    "import atexit, sys; "
    "atexit.register(lambda: getattr(sys, 'tell', max)(list(sys.modules), sys.is_finalizing()))"
)

STATEFUL = ("logging", "multiprocessing", "uuid", "tempfile", "ssl", "asyncio", "unittest")

STATE = """
import gc, locale, os, signal, sys, threading, warnings
print(os.getcwd(), oct(os.umask(0o22)), signal.getsignal(signal.SIGUSR1))
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), sys.getrecursionlimit(), sys.path)
print(sys.excepthook)
print(locale.setlocale(locale.LC_ALL), os.environ, sorted(os.listdir('/proc/self/fd')))
print(threading.active_count(), sys.meta_path, hasattr(__builtins__, 'everywhere'), gc.isenabled())
print(warnings.filters, hasattr(os, 'marked'), 'placed' in sys.modules, list(sys.modules))
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    """Runners of a Python that has all these modules."""
    require_sandbox()
    require_toolchain("python")
    home = tmp_path_factory.mktemp("python")
    home.chmod(0o755)  # the program, which is nobody, has to get in
    toolchain = await Toolchains().find(Languages().get("python"))
    make = [toolchain.tools["python"], "-m", "venv", "--without-pip", "--symlinks", str(home)]
    subprocess.run(make, check=True)  # noqa: ASYNC221 - nothing else runs yet
    packages = next(home.glob("lib/python*/site-packages"))
    for name, source in {**BEHAVE, **MISBEHAVE}.items():
        Path(packages, f"{name}.py").write_text(f"import os\nPID = os.getpid()\n{source}\n")
    Path(packages, "start.pth").write_text(AT_THE_START)
    settings = Settings(
        engine="linux",
        toolchains={"python": str(home / "bin/python")},
        preload=[*PRELOAD, *STATEFUL, *MISBEHAVE, *BEHAVE, "not_there"],
    )
    async with open_pair(settings) as pair:
        yield pair


@pytest.mark.parametrize("name", [*BEHAVE, *STATEFUL, *MISBEHAVE, "not_there", "json"])
async def test_importing_it_has_the_same_effect(pair: Pair, name: str) -> None:
    program = _program(f"{STATE}\nimport {name}\nprint({name})\n{STATE}\n1 / 0\n")
    warm, cold = await pair.run_warm(program), await pair.run_cold(program)
    assert facts(warm) == facts(cold)


async def test_nothing_is_seen_of_those_that_are_not_imported(pair: Pair) -> None:
    warm, cold = await pair.run_warm(_program(STATE)), await pair.run_cold(_program(STATE))
    assert facts(warm) == facts(cold)


@pytest.mark.parametrize("name", BEHAVE)
async def test_was_imported_ahead(pair: Pair, name: str) -> None:
    assert await _ran_in_the_program(pair, name) == "False"


@pytest.mark.parametrize("name", sorted(MISBEHAVE.keys() - {"fails", "breaks", "exits", "crashes"}))
async def test_was_left_to_the_program(pair: Pair, name: str) -> None:
    assert (await _ran_in_the_program(pair, name)).endswith("True")


async def test_no_two_runs_share_a_key(pair: Pair) -> None:
    look = _program("import multiprocessing as m; print(bytes(m.current_process().authkey))")
    assert len({(await pair.run_warm(look)).stdout.data for _ in range(3)}) == 3


async def test_the_clock_of_logging_begins_with_its_import(pair: Pair) -> None:
    await asyncio.sleep(1.5)  # the interpreter is older than this by now
    look = _program(
        "import logging\nprint(logging.LogRecord('n', 1, 'p', 1, 'm', (), None).relativeCreated)"
    )
    assert float((await pair.run_warm(look)).stdout.text) < 1000


async def test_who_was_there_first_is_called_last(pair: Pair) -> None:
    look = _program("import json, sys; sys.tell = print")
    warm, cold = await pair.run_warm(look), await pair.run_cold(look)
    assert "'json'" in warm.stdout.text
    assert facts(warm) == facts(cold)


async def _ran_in_the_program(pair: Pair, name: str) -> str:
    look = f"print({name}.PID == os.getpid(), flush=True)"
    program = _program(f"import os, {name}\n{look}\nos._exit(0)")  # no thread is waited for
    return (await pair.run_warm(program)).stdout.text.strip()


def _program(source: str) -> Program:
    return Program(language="python", files=(File("main.py", source.encode()),))
