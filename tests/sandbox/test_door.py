"""The object itself: how it is made, shared, closed and shown."""

from __future__ import annotations

import asyncio
import copy
import multiprocessing
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from coderunner import InvalidInput, Isolation, IsolationTooLow, UnknownLanguage
from coderunner.sandbox import Sandbox
from tests.support import IS_ROOT, require_toolchain

pytestmark = pytest.mark.engines


def test_stdin_and_arguments() -> None:
    code = "import sys\nprint(input(), sys.argv[1:])"
    result = Sandbox(allowed_imports=["sys"]).run(code, stdin="hi\n", args=["a", "b c"])
    assert result.stdout == "hi ['a', 'b c']\n"


def test_facts_of_a_run() -> None:
    result = Sandbox().run("x = bytearray(30 << 20)\nfor i in range(10**6): pass")
    assert result.ok
    assert result.memory_peak_kb > 30 * 1024
    assert result.cpu_ms > 1
    assert result.isolation in (Isolation.FULL, Isolation.SAMPLED)
    assert (result.isolation is Isolation.FULL) == IS_ROOT or not IS_ROOT


def test_a_crash_has_its_exit_code() -> None:
    result = Sandbox(allowed_imports=["ctypes"]).run("import ctypes; ctypes.string_at(0)")
    assert (result.exit_code, result.ok) == (128 + 11, False)


def test_other_languages() -> None:
    require_toolchain("c")
    hello = '#include <stdio.h>\nint main(void) { puts("hello from C"); return 7; }'
    result = Sandbox().run(hello, language="c")
    assert (result.stdout, result.exit_code) == ("hello from C\n", 7)
    broken = Sandbox().run("int main(void) { return }", language="c")
    assert (broken.exit_code, broken.stdout) == (1, "")
    assert "error" in broken.stderr
    with pytest.raises(UnknownLanguage):
        Sandbox().run("x", language="klingon")


def test_from_many_threads() -> None:
    sandbox = Sandbox()
    with ThreadPoolExecutor(50) as threads:
        results = list(threads.map(lambda n: sandbox.run(f"print({n} * 2)"), range(100)))
    assert [int(result.stdout) for result in results] == [2 * n for n in range(100)]


def test_in_a_loop_that_is_running() -> None:
    """As in a Jupyter notebook."""

    async def cell() -> str:
        return Sandbox().run("print('hi')").stdout

    assert asyncio.run(cell()) == "hi\n"


def test_in_a_forked_child() -> None:
    sandbox = Sandbox()
    assert sandbox.run("print(1)").stdout == "1\n"
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map(sandbox.run, ["print(2)", "print(3)"])
    assert [result.stdout for result in results] == ["2\n", "3\n"]
    assert sandbox.run("print(4)").stdout == "4\n"


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]
)
def test_copies_are_as_good(copied: Callable[[Sandbox], Sandbox]) -> None:
    sandbox = Sandbox(filesystem={"a": "1"}, allowed_imports=["math"], timeout=7)
    twin = copied(sandbox)
    assert repr(twin) == repr(sandbox)
    assert twin.run("print(open('a').read())").stdout == "1" + "\n"
    with pytest.raises(TypeError):
        twin.filesystem["b"] = "2"  # type: ignore[index]


@pytest.mark.parametrize("wrong", [5, None, "abc", [1]])
def test_arguments_that_are_none(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="args must be a list of strings"):
        Sandbox().run("1", args=wrong)  # type: ignore[arg-type]


async def test_in_asyncio_code() -> None:
    async with Sandbox() as sandbox:
        results = await asyncio.gather(*(sandbox.run_async(f"print({n})") for n in range(4)))
    assert [result.stdout for result in results] == ["0\n", "1\n", "2\n", "3\n"]


async def test_cancelling_ends_the_program() -> None:
    sandbox = Sandbox(timeout=60)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(sandbox.run_async("while True: pass"), timeout=0.3)
    assert (await sandbox.run_async("print('next')")).stdout == "next\n"


def test_an_interrupt_ends_the_program() -> None:
    waiting = """
        import os, signal, threading, time
        from coderunner.sandbox import Sandbox
        sandbox = Sandbox(timeout=60)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            sandbox.run("while True: pass")
        except KeyboardInterrupt:
            print("interrupted", sandbox.run("print('next')").stdout.strip())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(waiting)],
        capture_output=True,
        text=True,
        check=False,
        timeout=40,
    )
    assert (done.returncode, done.stdout) == (0, "interrupted next\n"), done.stderr


async def test_code_that_is_hard_to_read_holds_up_nobody() -> None:
    """It is read elsewhere, so other code runs meanwhile; and cancelling ends that, too."""
    sandbox = Sandbox()
    hard = asyncio.create_task(sandbox.run_async("f'" + "{1:{2}}" * 100_000 + "'"))
    await asyncio.sleep(0.2)
    assert (await sandbox.run_async("print('meanwhile')")).stdout == "meanwhile\n"
    assert not hard.done()
    hard.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hard


def test_closed_is_closed() -> None:
    with Sandbox() as sandbox:
        assert sandbox.run("print(1)").stdout == "1\n"
    with pytest.raises(InvalidInput, match="closed"):
        sandbox.run("print(1)")
    with pytest.raises(InvalidInput, match="closed"), sandbox:
        pass


def test_how_it_is_shown() -> None:
    sandbox = Sandbox(timeout=2, allowed_imports=["math"], filesystem={"a.txt": "secret"})
    assert repr(sandbox) == (
        "Sandbox(timeout=2, max_memory_mb=256, max_output_bytes=1000000, "
        "allowed_imports=['math'], filesystem=['a.txt'], engine='auto')"
    )


def test_an_engine_that_there_is_not() -> None:
    with pytest.raises(InvalidInput, match="no engine is called 'procces'") as caught:
        Sandbox(engine="procces")
    assert caught.value.hint == "did you mean process?"


def test_an_engine_without_walls_says_so() -> None:
    assert Sandbox(engine="process").run("print(1)").isolation is Isolation.NONE
    with pytest.raises(IsolationTooLow):
        Sandbox(engine="process", min_isolation="sampled").run("print(1)")


def test_a_bar_of_the_environment_is_not_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODERUNNER_MIN_ISOLATION", "sampled")
    with pytest.raises(IsolationTooLow):
        Sandbox(engine="process").run("print(1)")


def test_an_isolation_that_there_is_not() -> None:
    with pytest.raises(InvalidInput, match="no isolation is called 'total'"):
        Sandbox(min_isolation="total")
    with pytest.raises(IsolationTooLow):
        Sandbox(min_isolation=Isolation.VM).run("print(1)")
