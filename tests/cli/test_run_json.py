"""`coderunner run --json`: everything in one object."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest

from tests.cli.console import as_json, coderunner, environment, python, start
from tests.support import require_sandbox, require_toolchain

pytestmark = [pytest.mark.cli, pytest.mark.engines]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


def test_usage_errors_as_json() -> None:
    for args in (["run", "--json", "--bogus"], ["run", "--json", "-l", "pyhton", "-c", "1"]):
        done = coderunner(*args)
        error = as_json(done)["error"]
        assert done.returncode == 2
        assert done.stderr == b""
        assert set(error) == {"type", "message", "hint"}


def test_json_has_everything() -> None:
    found = as_json(python("import sys; print('é'); sys.exit(3)", "--json"))
    execution = found["execution"]
    assert found["language"] == "python"
    assert re.match(r"3\.\d+", found["version"])
    assert (found["ok"], found["exit_code"], found["engine"]) == (False, 3, "linux")
    assert found["isolation"] in {"full", "sampled"}
    assert found["compilation"] is None
    assert (execution["ended_by"], execution["exit_code"], execution["signal"]) == ("exit", 3, None)
    assert execution["warm"] is False  # nothing has started before: it is the first run
    assert set(execution["usage"]) == {"wall_ms", "cpu_ms", "memory_peak_kb"}
    times = [execution["usage"][name] for name in ("wall_ms", "cpu_ms")]
    assert times == [round(time, 3) for time in times]
    assert execution["stdout"] == {
        "text": "é\n", "base64": None, "dropped_bytes": 0, "dropped_at": None,
    }  # fmt: skip


def test_json_with_bytes_that_are_no_text() -> None:
    code = "import sys; sys.stdout.buffer.write(bytes([0, 255, 10]) * 5)"
    out = as_json(python(code, "--json"))["execution"]["stdout"]
    assert base64.b64decode(out["base64"]) == b"\0\xff\n" * 5
    assert out["text"] == "\0�\n" * 5


def test_json_says_what_was_dropped() -> None:
    out = as_json(python("print('a' * 500 + 'b' * 500, end='')", "--json", "--keep", "100B"))
    assert out["execution"]["stdout"] == {
        "text": "a" * 50 + "b" * 50, "base64": None, "dropped_bytes": 900, "dropped_at": 50,
    }  # fmt: skip


def test_json_of_a_program_that_does_not_compile() -> None:
    require_toolchain("c")
    done = coderunner("run", "--json", "-l", "c", "-c", "nonsense")
    found = as_json(done)
    assert (done.returncode, done.stderr) == (1, b"")
    assert found["execution"] is None
    assert "nonsense" in found["compilation"]["stderr"]["text"]


def test_processes_share_what_was_compiled(tmp_path: Path) -> None:
    require_toolchain("c")
    env = environment(CODERUNNER_CACHE_DIR=str(tmp_path), CODERUNNER_COMPILE_CACHE_MB="10")
    command = ("run", "--json", "-l", "c", "-c", "int main(void) { return 7; }")
    both = [start(*command, env=env, stdout=PIPE, stdin=DEVNULL) for _ in range(2)]
    first = [json.loads(process.communicate(timeout=60)[0]) for process in both]
    assert [found["exit_code"] for found in first] == [7, 7]
    assert [path.stat().st_mode & 0o777 for path in tmp_path.glob("compiled/*")] == [0o600]
    later = as_json(coderunner(*command, env=env))
    assert (later["exit_code"], later["execution"]["cached"]) == (7, False)
    compilation = later["compilation"]
    assert compilation["cached"]
    assert compilation["usage"] in [found["compilation"]["usage"] for found in first]
