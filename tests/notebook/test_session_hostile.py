"""Cells that mean no good: each gets a structured answer, and others are none the worse."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coderunner.notebook import Session
from coderunner.notebook.session import conversation
from coderunner.workspace.root import process_root
from tests.support import ROOT

pytestmark = [pytest.mark.engines, pytest.mark.hostile]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(timeout=20, max_memory_mb=512) as session:
        yield session


def works(session: Session) -> bool:
    result = session.execute("40 + 2")
    return result.success and result.value is not None and result.value.text == "42"


DEADLY = {
    "exits": ("import os\nos._exit(3)", "runtime_error", "exited with code 3"),
    "kills itself": ("import os\nos.kill(os.getpid(), 9)", "runtime_error", "died of signal 9"),
    "kills what starts it": (
        "import os\nos.kill(os.getppid(), 9)",
        "runtime_error",
        "died of signal 9",
    ),
    "crashes": ("import ctypes\nctypes.string_at(0)", "runtime_error", "died of signal 11"),
    "takes all memory": (
        "x = []\nwhile True: x.append(bytearray(10 << 20))",
        "oom_killed",
        "memory limit of 512 MB exceeded",
    ),
    "shows a gigabyte": ("'x' * (1 << 30)", "oom_killed", "memory limit"),
    "kills everybody": ("import os\nos.kill(-1, 9)", "runtime_error", "died of signal 9"),
}


@pytest.mark.parametrize("what", DEADLY)
def test_a_kernel_that_dies(session: Session, what: str) -> None:
    code, kind, said = DEADLY[what]
    result = session.execute(code)
    assert (result.success, result.alive) == (False, False)
    assert result.error is not None
    assert result.error.type == kind
    assert said in result.error.message
    assert "restart() starts a new one" in result.error.message
    again = session.execute("1")
    assert (again.success, again.error) == (False, result.error)
    session.restart()
    assert works(session)


def test_who_does_not_listen_is_ended(session: Session) -> None:
    code = """
import time
while True:
    try: time.sleep(1)
    except KeyboardInterrupt: pass
"""
    result = session.execute(code, timeout=0.5)
    assert not result.alive
    assert result.error is not None
    assert result.error.type == "timeout"
    assert "did not stop" in result.error.message
    session.restart()
    assert works(session)


def test_fork_bomb(session: Session) -> None:
    result = session.execute(
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", timeout=3
    )
    assert not result.success
    session.restart()
    assert works(session)


@pytest.mark.parametrize(
    "code",
    [
        "while True: print('x' * 1000)",
        "while True: print('x' * 1_000_000, flush=True)",
        "import os\nwhile True: os.write(1, b'x' * 65536)",
        "from IPython.display import display\nwhile True: display('x' * 100_000)",
        "import sys\nfor i in range(40): print('y' * 1_000_000, file=sys.stderr, flush=True)\n"
        "while True: sys.stderr.write('y' * 1_000_000)",
    ],
)
def test_floods_do_not_fill_us(session: Session, code: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = session.execute(code)
    assert not result.success
    assert result.error is not None
    assert result.error.type in ("output_limit", "oom_killed")
    assert len(result.stdout) + len(result.stderr) <= 2_000_000
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300 * 1024
    if not result.alive:
        session.restart()
    assert works(session)


def test_a_message_that_is_too_long(session: Session) -> None:
    result = session.execute("print('y' * 40_000_000)")
    assert not result.success
    if not result.alive:
        session.restart()
    assert works(session)


def test_a_flood_while_nobody_listens(session: Session) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = """
import threading
def flood():
    while True: print('z' * 100_000, flush=True)
threading.Thread(target=flood, daemon=True).start()
"""
    session.execute(code)
    time.sleep(3)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300 * 1024
    session.restart()
    assert works(session)


PARTS = """
import os, struct, time
out = os.open(f"/proc/{os.getppid()}/fd/1", os.O_WRONLY)
data = b"\\x01\\x00" * 2000
while True:
    os.write(out, struct.pack("<BII", 3, 2, len(data)) + data)
    time.sleep(.0002)
"""
VALUES = """
kernel = get_ipython().kernel
def publish(content):
    session = kernel.session
    header, parent = session.msg("display_data")["header"], kernel.get_parent()["header"]
    frames = [session.pack(header), session.pack(parent), b"{}", content]
    signed = [b"x", b"<IDS|MSG>", session.sign(frames), *frames]
    kernel.iopub_socket.send_multipart(signed)
for _ in range(4):
    publish(b'{"data":{"a":[' + b"{}," * 5_000_000 + b"0]}}")
"""


@pytest.mark.parametrize(
    ("code", "wanted"), [(PARTS, "unknown_executor_error"), (VALUES, "output_limit")]
)
def test_what_is_small_and_takes_much_memory(code: str, wanted: str) -> None:
    """In a process of its own: what is measured is the most that there ever was."""
    caller = (
        "import resource, sys\nfrom coderunner.notebook import Session\n"
        "with Session(timeout=10) as session:\n"
        "    session.execute('1')\n"
        "    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "    print(session.execute(sys.argv[1]).error.type)\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    command = [sys.executable, "-c", caller, code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    kind, grown = done.stdout.split()
    assert kind == wanted
    assert int(grown) < 250 * 1024


FORGE = """
import os, struct
HEADER = struct.Struct("<BII")
def forge(data):
    for pid in os.listdir("/proc"):
        for fd in ("1", "3", "4"):
            try:
                out = os.open(f"/proc/{{pid}}/fd/{{fd}}", os.O_WRONLY | os.O_NONBLOCK)
                os.write(out, data)
            except (OSError, ValueError): pass
for fd in range(3, 60):
    try: os.write(fd, {data})
    except OSError: pass
forge({data})
"""


@pytest.mark.parametrize(
    "data",
    [
        "HEADER.pack(99, 1, 10)",
        "HEADER.pack(3, 1, 0xFFFFFFFF)",
        "HEADER.pack(3, 12345, 1) + b'x'",
        "HEADER.pack(4, 1, 4) + b'\\xff' * 4",
        "(HEADER.pack(3, 1, 65536) + b'x' * 65536) * 40",
        "HEADER.pack(3, 1, 0) * 100_000",
        "HEADER.pack(7, 0, 0) * 100_000",
        "os.urandom(1 << 20)",
    ],
)
def test_forged_frames_harm_nobody_else(data: str) -> None:
    with Session(timeout=5) as other, Session(timeout=5) as session:
        result = session.execute(FORGE.format(data=data))
        assert result.success or result.error is not None
        assert works(other)
        session.restart()
        assert works(session)


def test_a_signed_message_that_is_nonsense(session: Session) -> None:
    code = """
import json
kernel = get_ipython().kernel
kernel.session.pack = lambda content: json.dumps(content, default=str).encode()
parent = kernel.get_parent()
def publish(kind, content):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=parent)
deep = "[" * 100_000 + "]" * 100_000
publish("stream", {"name": "stdout", "text": 7})
publish("stream", {})
publish("display_data", {"data": [1]})
publish("display_data", {"data": {"image/png": "%%%", "text/plain": {"a": 1}}})
publish("execute_result", {"data": {"text/plain": ["a", 1, "b"]}, "execution_count": "x"})
publish("error", {"ename": 1, "evalue": None, "traceback": "x"})
publish("error", {"ename": "A", "evalue": "\\ud800", "traceback": [1, "x"]})
kernel.iopub_socket.send_multipart([b"x"])
kernel.iopub_socket.send_multipart([b"<IDS|MSG>", b"", deep.encode(), b"{}", b"{}", b"{}"])
"""
    result = session.execute(code)
    assert result.error is not None
    assert (result.error.name, result.error.message) == ("A", "A: ?")
    assert result.value is not None
    assert result.value.text == "ab"
    assert works(session)


def test_many_displays(session: Session) -> None:
    code = "from IPython.display import display\nfor i in range(1000): display(i)"
    result = session.execute(code)
    assert len(result.displays) == 200
    assert result.error is not None
    assert result.error.type == "output_limit"


def test_a_long_session_may_say_much(session: Session) -> None:
    """More in its life than one run may print: each cell has its own limit."""
    for _ in range(9):
        result = session.execute("for i in range(10): print('x' * 799_999, flush=True)")
        assert result.alive
    assert works(session)


def test_a_kernel_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tmp_path / "kernels" / "silent"
    kernel.mkdir(parents=True)
    argv = '["python3", "-c", "import time; time.sleep(100)", "{connection_file}"]'
    (kernel / "kernel.json").write_text(f'{{"argv": {argv}, "display_name": "s", "language": "s"}}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setattr(conversation, "_STARTING_S", 1.0)
    from coderunner import EngineUnavailable

    with pytest.raises(EngineUnavailable, match="not answered"):
        Session("silent").execute("1")


CALLER = """
import os, sys, time
from coderunner.notebook import Session
session = Session()
session.execute("import subprocess\\nsubprocess.Popen(['sleep', '86399'])")
print("ready", flush=True)
time.sleep(60)
"""


def test_a_caller_that_is_killed_leaves_nothing() -> None:
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert caller.stdout is not None
    with caller.stdout:
        assert caller.stdout.readline() == "ready\n"
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    until = time.monotonic() + 20
    while left := _running("86399"):
        assert time.monotonic() < until, left
        time.sleep(0.05)


def _running(word: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_text().split("\0")
        except OSError:
            continue
        if word in command:
            found.append(" ".join(command))
    return found


@pytest.mark.slow
def test_many_sessions_leave_nothing() -> None:
    Session().close()
    with Session() as first:
        first.execute("1")
    before = _belongings()
    for n in range(50):
        with Session() as session:
            session.execute(f"print({n})")
    until = time.monotonic() + 20
    while (after := _belongings()) != before and time.monotonic() < until:
        time.sleep(0.1)
    assert after == before


def _belongings() -> tuple[int, int, int, list[str]]:
    """Descriptors, threads, children's children, files."""
    descriptors = len(os.listdir("/proc/self/fd"))
    threads = len(os.listdir("/proc/self/task"))
    kernels = len(_running("ipykernel_launcher"))
    files = [name for name in os.listdir(process_root()) if name.startswith("kernel-")]
    return descriptors, threads, kernels, files
