"""Session: cells that share an interpreter, in a real box."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coderunner import (
    InvalidInput,
    InvalidLimits,
    Isolation,
    IsolationTooLow,
    UnknownLanguage,
)
from coderunner.notebook import CellResult, Session
from tests.support import ROOT

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """One for all tests that leave it in order."""
    with Session(timeout=60) as session:
        yield session


def text_of(result: CellResult) -> str | None:
    assert result.error is None, result.error
    return result.value.text if result.value else None


def test_what_one_cell_leaves_the_next_one_finds(session: Session) -> None:
    assert session.execute("x = 40\ndef double(n): return 2 * n\nimport math").success
    assert text_of(session.execute("x + 2")) == "42"
    assert text_of(session.execute("double(math.floor(x / 2))")) == "40"


def test_output_is_no_value(session: Session) -> None:
    result = session.execute("import sys\nprint('hé')\nprint('oops', file=sys.stderr)\nNone")
    assert (result.success, result.stdout, result.stderr) == (True, "hé\n", "oops\n")
    assert result.value is None
    assert isinstance(result.execution_count, int)
    assert result.alive


def test_what_is_written_past_python_is_seen(session: Session) -> None:
    result = session.execute("import os\nos.system('echo from a shell')")
    assert "from a shell" in result.stdout


def test_shell_commands(session: Session) -> None:
    result = session.execute("word = 'told'\n!echo {word}; echo wrong >&2; exit 3")
    assert (result.error, result.stdout, result.stderr) == (None, "told\n", "wrong\n")
    assert text_of(session.execute("_exit_code")) == "3"


def test_a_group_of_errors_is_an_error(session: Session) -> None:
    result = session.execute("raise ExceptionGroup('all', [ValueError(1)])")
    assert (result.success, result.alive) == (False, True)
    assert result.error is not None
    assert (result.error.type, result.error.name) == ("runtime_error", "ExceptionGroup")
    assert "ValueError: 1" in result.stderr


@pytest.mark.parametrize("code", ["exit()", "quit", "print('x')\nget_ipython().ask_exit()"])
def test_who_leaves_is_gone(code: str) -> None:
    with Session() as session:
        result = session.execute(code)
        assert (result.success, result.alive, session.alive) == (False, False, False)
        assert result.error is not None
        assert "exited with code 0" in result.error.message
        session.restart()
        assert text_of(session.execute("exit(keep_kernel=True)\n")) is None
        assert text_of(session.execute("1")) == "1"


def test_an_error_and_life_after_it(session: Session) -> None:
    result = session.execute("print('before')\n1 / 0")
    assert (result.success, result.stdout, result.alive) == (False, "before\n", True)
    assert result.error is not None
    assert (result.error.type, result.error.name) == ("runtime_error", "ZeroDivisionError")
    assert result.error.message == "ZeroDivisionError: division by zero"
    assert "line 2" in result.error.traceback
    assert "\x1b" not in result.error.traceback
    assert text_of(session.execute("1 + 1")) == "2"


def test_a_value_has_its_html(session: Session) -> None:
    code = "class Table:\n    def _repr_html_(self): return '<b>t</b>'\nTable()"
    value = session.execute(code).value
    assert value is not None
    assert value.html == "<b>t</b>"
    assert value.text.startswith("<__main__.Table")


def test_a_figure_comes_back_as_an_image(session: Session) -> None:
    shown = session.execute("import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()")
    assert shown.error is None
    assert [image[:8] for image in shown.images] == [b"\x89PNG\r\n\x1a\n"]
    assert shown.stderr == ""
    figure = session.execute("fig, ax = plt.subplots()\nplt.close(fig)\nfig")
    assert figure.value is not None
    assert figure.value.png is not None
    again = CellResult.model_validate_json(figure.model_dump_json())
    assert again.images == figure.images


def test_displays_come_in_order_and_can_be_updated(session: Session) -> None:
    code = """
from IPython.display import HTML, display, clear_output
handle = display('one', display_id=True)
display(HTML('<i>two</i>'))
handle.update('three')
"""
    displays = session.execute(code).displays
    assert [(d.text, d.html) for d in displays] == [
        ("'three'", None),
        ("<IPython.core.display.HTML object>", "<i>two</i>"),
    ]
    cleared = session.execute("print('x')\ndisplay(1)\nclear_output()\nprint('y')")
    assert (cleared.stdout, cleared.displays) == ("y\n", [])


def test_there_is_nobody_to_ask(session: Session) -> None:
    result = session.execute("input('name? ')")
    assert result.error is not None
    assert result.error.name == "StdinNotImplementedError"
    assert "does not support input" in result.error.message


def test_a_cell_that_takes_too_long_is_interrupted(session: Session) -> None:
    session.execute("kept = 1")
    result = session.execute("print('so far')\nwhile True: pass", timeout=0.5)
    assert (result.success, result.stdout, result.alive) == (False, "so far\n", True)
    assert result.error is not None
    assert (result.error.type, result.error.message) == (
        "timeout",
        "Execution timed out after 0.5 seconds.",
    )
    assert text_of(session.execute("kept")) == "1"


def test_output_is_cut_between_characters() -> None:
    with Session(max_output_bytes=1001) as session:
        result = session.execute("print('é' * 1000)")
        assert (result.success, result.stdout) == (True, "é" * 500)
        assert result.error is not None
        assert result.error.type == "output_limit"
        assert session.execute("print('x' * 1000)").stdout == "x" * 1000 + "\n"
        # 20 times as much may be shown
        shown = session.execute("from IPython.display import HTML\nHTML('x' * 30_000)")
        assert shown.value is not None
        assert shown.value.html is None
        assert shown.error is not None
        assert shown.error.type == "output_limit"


def test_from_many_threads(session: Session) -> None:
    session.execute("numbers = []")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: session.execute(f"numbers.append({n})"), range(20)))
    assert text_of(session.execute("sorted(numbers) == list(range(20))")) == "True"


async def test_in_asyncio_code() -> None:
    async with Session() as session:
        assert text_of(await session.execute_async("1 + 1")) == "2"
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.execute_async("x = 1\nwhile True: pass"), timeout=1)
        assert text_of(await session.execute_async("x")) == "1"
        await session.restart_async()
        assert not (await session.execute_async("x")).success


def test_files_that_it_brings() -> None:
    files = {"data/a.txt": "ä", "helper.py": "N = 7", "main.py": "N = 8"}
    with Session(filesystem=files) as session:
        assert text_of(session.execute("open('data/a.txt').read()")) == "'ä'"
        assert text_of(session.execute("import helper, main\nhelper.N, main.N")) == "(7, 8)"
        listed = "import os\nsorted(set(os.listdir('.')) - {'__pycache__'})"
        assert text_of(session.execute(listed)) == "['data', 'helper.py', 'main.py']"
        session.execute("open('data/a.txt', 'w').write('new')")
        session.restart()
        assert text_of(session.execute("open('data/a.txt').read()")) == "'ä'"


def test_it_is_shut_in(session: Session) -> None:
    assert session.isolation in (Isolation.FULL, Isolation.SAMPLED)
    code = "import socket\nsocket.create_connection(('1.1.1.1', 53), timeout=3)"
    result = session.execute(code)
    assert result.error is not None
    assert result.error.name == "OSError"
    assert text_of(
        session.execute("import os\nos.getuid() != 0 and 'SECRET' not in os.environ")
    ) == ("True")


def test_a_bar_that_is_too_high() -> None:
    with pytest.raises(IsolationTooLow):
        Session(min_isolation="vm").execute("1")


def test_idle_for_too_long() -> None:
    with Session(idle_seconds=0.3) as session:
        assert text_of(session.execute("import time; time.sleep(.6); 1")) == "1"
        until = time.monotonic() + 30
        while session.alive and time.monotonic() < until:
            time.sleep(0.05)
        result = session.execute("1")
        assert (result.success, result.alive) == (False, False)
        assert result.error is not None
        assert "nobody has used it for 0.3 seconds" in result.error.message
        session.restart()
        assert text_of(session.execute("2")) == "2"


def test_closed_is_closed() -> None:
    session = Session()
    assert repr(session) == "Session('python3', timeout=30.0, not started)"
    session.execute("1")
    assert repr(session) == "Session('python3', timeout=30.0, alive)"
    session.close()
    session.close()
    assert repr(session) == "Session('python3', timeout=30.0, closed)"
    assert not session.alive
    with pytest.raises(InvalidInput, match="closed"):
        session.execute("1")


def test_one_that_nobody_closes_is_no_trouble() -> None:
    code = (
        "from coderunner.notebook import Session\ns = Session()\nprint(s.execute('7').value.text)"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("7\n", "")


def test_a_forked_child_has_its_own(session: Session) -> None:
    session.execute("1")
    child = os.fork()
    if child == 0:
        try:
            session.execute("1")
        except InvalidInput:
            session.close()
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert text_of(session.execute("1")) == "1"


def test_closing_while_a_cell_runs() -> None:
    session = Session()
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(session.execute, "import time\ntime.sleep(60)")
        while not session.alive:
            time.sleep(0.05)
        time.sleep(0.3)
        session.close()
        result = running.result(timeout=30)
    assert (result.success, result.alive) == (False, False)
    assert result.error is not None
    assert result.error.type == "unknown_executor_error"
    assert "ended from outside" in result.error.message


def test_a_kernel_that_there_is_not() -> None:
    with pytest.raises(UnknownLanguage, match="no kernel is called 'klingon'") as caught:
        Session("klingon").execute("1")
    assert "python3" in caught.value.hint


def test_a_kernel_that_is_interrupted_by_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = tmp_path / "kernels" / "other"
    kernel.mkdir(parents=True)
    spec = {
        "argv": ["python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "another one",
        "language": "python",
        "interrupt_mode": "message",
        "env": {"GREETING": "hello"},
    }
    (kernel / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    with Session("other") as session:
        assert text_of(session.execute("import os\nx = os.environ['GREETING']\nx")) == "'hello'"
        late = session.execute("import time\nwhile True: time.sleep(.01)", timeout=0.5)
        assert late.alive
        assert text_of(session.execute("x")) == "'hello'"


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), "1", True])
def test_times_that_nobody_can_wait(session: Session, wrong: float) -> None:
    with pytest.raises(InvalidLimits, match="timeout must be"):
        session.execute("1", timeout=wrong)
    with pytest.raises(InvalidLimits, match="idle_seconds must be"):
        Session(idle_seconds=wrong)


def test_half_a_character(session: Session) -> None:
    with pytest.raises(InvalidInput, match="half a character"):
        session.execute("'\ud800'")
    assert text_of(session.execute("1")) == "1"


@pytest.mark.parametrize("wrong", [1, None, b"1"])
def test_a_cell_that_is_no_text(session: Session, wrong: object) -> None:
    with pytest.raises(InvalidInput, match="must be text"):
        session.execute(wrong)  # type: ignore[arg-type]


def test_a_notebook_of_twenty_cells() -> None:
    with Session() as session:
        session.execute("import matplotlib.pyplot as plt\nimport numpy as np\ntotal = 0")
        for n in range(20):
            result = session.execute(
                f"total += {n}\nplt.plot(np.sin(np.linspace(0, {n}, 100)))\nplt.title('{n}')\n"
                "plt.show()\ntotal"
            )
            assert text_of(result) == str(sum(range(n + 1)))
            assert len(result.images) == 1
