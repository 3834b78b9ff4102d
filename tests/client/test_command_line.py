"""`coderunner run --remote` behaves as the run on this machine; `coderunner health` for probes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.console import COMMAND, TIMEOUT_S, Done, coderunner, environment, start
from tests.server.conftest import Service
from tests.server.v1.boxes import box_of
from tests.support import require_toolchain

pytestmark = pytest.mark.integration
BYTES = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 3000)"
LINES: dict[str, tuple[list[str], bytes]] = {
    "input": (["-l", "python", "-c", "print(input()[::-1])"], b"abc\n"),
    "bytes": (["-l", "python", "-c", BYTES], b""),
    "both streams": (
        ["-l", "bash", "-c", 'echo "$@"; echo err >&2; exit 3', "--", "-x", "y z"],
        b"",
    ),
    "too long": (["-l", "bash", "-c", "sleep 60", "--time", "300ms"], b""),
    "source from stdin": (["-l", "python", "-"], b"print('from stdin')"),
    "no such language": (["-l", "cobol", "-c", "x"], b""),
}


def remote(service: Service, *args: str, stdin: bytes = b"", **variables: str) -> Done:
    env = environment(**variables)
    return coderunner("run", "--remote", service.url, *args, stdin=stdin, env=env)


@pytest.mark.parametrize("name", LINES)
def test_the_same_as_here(service: Service, name: str) -> None:
    args, stdin = LINES[name]
    there, here = remote(service, *args, stdin=stdin), coderunner("run", *args, stdin=stdin)
    assert (there.returncode, there.stdout, there.stderr) == (
        (here.returncode, here.stdout, here.stderr)
    )


@pytest.mark.parametrize(
    ("flag", "source"),
    [("-v", "int main(void) { return 5; }"), ("-q", "int main(void) { retur 5; }")],
)
def test_compilers(service: Service, flag: str, source: str) -> None:
    require_toolchain("c")
    args = [flag, "-l", "c", "-c", "#warning careful\n" + source]
    there, here = remote(service, *args), coderunner("run", *args)
    assert (there.returncode, there.stdout) == (here.returncode, here.stdout)
    assert _but_status(there.stderr) == _but_status(here.stderr)


def _but_status(said: bytes) -> list[bytes]:
    return [line for line in said.splitlines() if b"engine, isolation" not in line]


def test_the_same_json(service: Service) -> None:
    args = ["--json", "-l", "python", "-c", BYTES]
    there, here = remote(service, *args), coderunner("run", *args)
    assert (there.returncode, there.stderr) == (here.returncode, here.stderr)
    assert _but_times(there.stdout) == _but_times(here.stdout)


def _but_times(written: bytes) -> Any:
    found = json.loads(written)
    found["execution"] |= {"usage": None, "warm": None}
    return list(found), found


def test_a_file_as_input(service: Service, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(bytes(range(256)) * 100)
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])"
    with data.open("rb") as file:
        done = subprocess.run(
            [*COMMAND, "run", "--remote", service.url, "-l", "python", "-c", code],
            stdin=file, capture_output=True, check=True, timeout=TIMEOUT_S, env=environment(),
        )  # fmt: skip
    assert done.stdout == data.read_bytes()[::-1]


def test_a_conversation(service: Service) -> None:
    code = "while True: print(input()[::-1], flush=True)"
    args = ["run", "--remote", service.url, "-l", "python", "-c", code]
    with start(*args, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in (b"abc\n", b"def\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == line[-2::-1] + b"\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_S) == 130


@pytest.mark.parametrize("stdin", [subprocess.PIPE, subprocess.DEVNULL])
def test_ctrl_c_ends_what_runs_there(service: Service, stdin: int) -> None:
    code, box = box_of("interrupted")
    args = ["run", "--remote", service.url, "-l", "python", "-c", code, "--time", "1m"]
    with start(*args, stdin=stdin, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"running\n"
        assert box.is_there()
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_S) == 130
    box.wait_until_gone()


def test_output_that_nobody_has_kept_is_an_error(service: Service) -> None:
    done = remote(service, "-l", "python", "-c", "print('x' * 20_000_000)")
    assert (done.returncode == 74) == (len(done.stdout) < 20_000_001)
    assert (b"bytes of output are missing" in done.stderr) == (done.returncode == 74)


def test_a_terminal(service: Service) -> None:
    code = "import os, sys; print(os.get_terminal_size(), sys.stdin.isatty(), input('name? '))"
    ours, theirs = pty.openpty()
    os.set_blocking(ours, True)
    subprocess.run(["stty", "rows", "33", "cols", "77"], stdin=theirs, check=True)
    try:
        process = subprocess.Popen(
            [*COMMAND, "run", "-q", "--tty", "--remote", service.url, "-l", "python", "-c", code],
            stdin=theirs, stdout=theirs, stderr=theirs, env=environment(), start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        shown = _read_until(ours, b"name? ")
        os.write(ours, b"Ada\r")
        shown += _read_until(ours, None)
        assert process.wait(TIMEOUT_S) == 0
    finally:
        os.close(ours)
    assert b"os.terminal_size(columns=77, lines=33) True Ada" in shown


def _read_until(fd: int, wanted: bytes | None) -> bytes:
    """None: its end."""
    shown = b""
    with contextlib.suppress(OSError):  # EIO: the other side is gone
        while wanted is None or wanted not in shown:
            if not (chunk := os.read(fd, 65536)):
                break
            shown += chunk
    return shown


@pytest.mark.parametrize("flags", [["--engine", "linux"], ["--isolation", "full"]])
def test_what_is_the_services_to_choose(service: Service, flags: list[str]) -> None:
    done = remote(service, "-l", "bash", "-c", ":", *flags)
    assert done.returncode == 2
    assert f"error: {flags[0]} is for a run on this machine" in done.stderr.decode()


def test_no_service(tmp_path: Path) -> None:
    done = coderunner("run", "--remote", "http://127.0.0.1:1", "-l", "bash", "-c", ":")
    assert done.returncode == 3
    assert done.stderr.startswith(b"error: nobody answers at http://127.0.0.1:1")


def test_the_token_is_that_of_the_environment(serve: Callable[..., Service]) -> None:
    token = "right-right-right-right-right"
    mine = serve(prestart=[], tokens=[token])
    args = ["-l", "bash", "-c", "echo hi"]
    assert remote(mine, *args, CODERUNNER_TOKEN=token).stdout == b"hi\n"
    for stdin in (b"", b"x"):
        done = remote(mine, *args, stdin=stdin, CODERUNNER_TOKEN="wrong-wrong")
        assert done.returncode == 3
        assert b"hint: pass a token, or set CODERUNNER_TOKEN" in done.stderr
        assert b"wrong-wrong" not in done.stderr


def test_health(serve: Callable[..., Service]) -> None:
    mine = serve(prestart=[])
    good = coderunner("health", env=environment(CODERUNNER_SERVER__PORT=str(mine.port)))
    assert (good.returncode, good.stderr) == (0, b"")
    assert good.stdout.startswith(b"ok, up for ")
    as_json = coderunner("health", "--json", "--remote", mine.url)
    assert json.loads(as_json.stdout)["status"] == "ok"
    mine.end()
    gone = coderunner("health", "--remote", mine.url)
    assert (gone.returncode, gone.stdout) == (1, b"")
    assert b"error: nobody answers at" in gone.stderr
    as_json = coderunner("health", "--json", "--remote", mine.url)
    assert json.loads(as_json.stdout)["error"]["type"] == "EngineUnavailable"
    assert as_json.returncode == 1


def test_health_of_a_service_that_is_degraded(serve: Callable[..., Service]) -> None:
    """What a worker is ended for is that nobody has used it."""
    mine = serve(prestart=["python"], idle_seconds=0.1, check_seconds=0.1)
    deadline = time.monotonic() + TIMEOUT_S
    while b"degraded" not in (done := coderunner("health", "--remote", mine.url)).stdout:
        assert time.monotonic() < deadline
    assert done.returncode == 0
    assert b"degraded" in done.stdout
    assert b"stopped: python" in done.stdout


def test_health_of_no_address() -> None:
    assert coderunner("health", "--remote", "nowhere").returncode == 2
