"""`coderunner run`: what goes in, what comes out, with which exit code."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from coderunner.cli.limits import FLAGS
from coderunner.model import Limits
from tests.cli.console import coderunner, environment, python, shell
from tests.support import require_sandbox, require_toolchain

pytestmark = [pytest.mark.cli, pytest.mark.engines]

EVERY_BYTE = bytes(range(256)) * 3


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


def test_output_and_exit_code_are_the_programs() -> None:
    done = python("import sys; print(6 * 7); print('oh', file=sys.stderr); sys.exit(7)")
    assert (done.stdout, done.stderr, done.returncode) == (b"42\n", b"oh\n", 7)


def test_every_byte_passes_both_ways() -> None:
    copy = "import os, sys; d = sys.stdin.buffer.read(); os.write(1, d); os.write(2, d)"
    done = python(copy, stdin=EVERY_BYTE)
    assert (done.stdout, done.stderr, done.returncode) == (EVERY_BYTE, EVERY_BYTE, 0)


def test_megabytes_of_stdin_from_a_pipe() -> None:
    data = EVERY_BYTE * 7_000
    done = python("import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())",
                  stdin=data)  # fmt: skip
    assert done.stdout.decode().strip() == hashlib.sha256(data).hexdigest()


def test_stdin_from_a_file_is_read_from_where_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "input"
    file.write_bytes(b"first\nsecond\n")
    line = '{ read -r _; coderunner run -l python -c "print(input())"; } < "$1"'
    assert shell(line, str(file)).stdout == b"second\n"


@pytest.mark.parametrize("where", ["</dev/null", "<&-", "< <(exit)"])
def test_no_stdin(where: str) -> None:
    line = f"coderunner run -l python -c 'import sys; print(len(sys.stdin.read()))' {where}"
    done = shell(line)
    assert (done.stdout, done.stderr, done.returncode) == (b"0\n", b"", 0)


def test_stdin_that_cannot_be_read() -> None:
    done = shell("coderunner run -l python -c 'input()' 0> /dev/null")
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: stdin cannot be read")


def test_input_that_the_program_does_not_want() -> None:
    done = shell("yes | coderunner run -l bash -c 'echo done'")
    assert (done.stdout, done.returncode) == (b"done\n", 0)


def test_closed_stdout_does_no_harm() -> None:
    done = shell("coderunner run -l bash -c 'echo lost; exit 3' >&-")
    assert (done.stderr, done.returncode) == (b"", 3)


def test_head_ends_it_quietly() -> None:
    done = shell("coderunner run -l bash -c yes | head -1; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == (b"y\n141\n", b"")


def test_a_full_disk_is_told() -> None:
    done = shell("coderunner run -l bash -c 'echo x' > /dev/full")
    assert done.returncode == 74
    assert b"No space left" in done.stderr


ENDS = [
    ("exit 0", (), 0, ""),
    ("exit 255", (), 255, ""),
    ("kill -SEGV $$", (), 139, "SIGSEGV"),
    ("kill -KILL $$", (), 137, "SIGKILL"),
    ("echo early; sleep 60", ("--time", "700ms"), 124, "ran longer than 700 ms"),
    ("while :; do :; done", ("--cpu-time", "300ms"), 124, "300 ms of cpu time"),
    ("x=$(yes | head -c 200M)", ("--memory", "32M"), 137, "32 MB of memory"),
    ("yes", ("--output", "100K"), 125, "100K to one stream"),
]


@pytest.mark.parametrize(("code", "limits", "exit_code", "words"), ENDS, ids=lambda v: str(v)[:20])
def test_how_it_ends(code: str, limits: tuple[str, ...], exit_code: int, words: str) -> None:
    done = coderunner("run", "-l", "bash", "-c", code, *limits)
    said = done.stderr.decode()
    assert done.returncode == exit_code, said
    assert words in said
    assert bool(said) is bool(words)
    assert not words or re.search(r"^error: ", said, re.MULTILINE)
    if "early" in code:
        assert done.stdout == b"early\n"


def test_too_many_processes() -> None:
    fork = "import os, time\nfor _ in range(50):\n  if os.fork() == 0: time.sleep(3); os._exit(0)"
    done = python(fork, "--processes", "8")
    # Ended, or refused by the kernel, in which case Python says so and exits with 1.
    assert done.returncode in {125, 1}
    assert b"error: the program was stopped" in done.stderr or b"BlockingIOError" in done.stderr


def test_quiet_keeps_the_error_and_drops_the_hint() -> None:
    noisy = coderunner("run", "-l", "bash", "-c", "sleep 9", "--time", "200ms")
    quiet = coderunner("run", "-l", "bash", "-c", "sleep 9", "--time", "200ms", "-q")
    assert b"\nhint: allow more with --time\n" in noisy.stderr
    assert quiet.stderr == b"error: the program was stopped: it ran longer than 200 ms\n"


def test_an_unfinished_line_is_finished_first() -> None:
    done = coderunner("run", "-l", "bash", "-c", "printf half >&2; kill -9 $$")
    assert done.stderr.startswith(b"half\nerror: ")


def test_verbose_has_a_status_line() -> None:
    done = python("pass", "-v")
    assert re.fullmatch(
        rb"exit code 0, [\d.]+ m?s \(cpu [\d.]+ m?s\), [\d.]+ MB, linux engine, "
        rb"isolation (full|sampled)\n",
        done.stderr,
    )
    assert python("pass").stderr == b""


def test_compile_errors_are_the_compilers() -> None:
    require_toolchain("c")
    done = coderunner("run", "-l", "c", "-c", "int main(void) { return undeclared; }")
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"undeclared" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(b"error: the program did not compile")


def test_compiler_warnings_only_when_wanted() -> None:
    require_toolchain("c")
    code = '#warning "look here"\nint main(void) { return 0; }'
    assert coderunner("run", "-l", "c", "-c", code).stderr == b""
    assert b"look here" in coderunner("run", "-l", "c", "-c", code, "-v").stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src" / "pkg").mkdir(parents=True)
    (tmp_path / "src" / "main.py").write_text(
        "import sys, pkg.util\nprint(pkg.util.NAME, sys.argv[1:], open('data/x.txt').read())"
    )
    (tmp_path / "src" / "pkg" / "util.py").write_text("NAME = 'util'")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.txt").write_text("data")
    return tmp_path


def test_files_lie_as_on_disk_and_arguments_follow_dashes(project: Path) -> None:
    done = coderunner(
        "run", "src/main.py", "src/pkg/util.py", "--file", "data/x.txt", "--", "-x", "--json", "--",
        cwd=project,
    )  # fmt: skip
    assert done.stdout == b"util ['-x', '--json', '--'] data\n"


def test_absolute_paths_and_renamed_data(project: Path) -> None:
    done = coderunner(
        "run", f"{project}/src/main.py", f"{project}/src/pkg/util.py",
        "--file", f"data/x.txt={project}/data/x.txt",
    )  # fmt: skip
    assert done.stdout == b"util [] data\n"


def test_a_data_file_from_elsewhere_has_its_base_name(project: Path) -> None:
    path = str(project / "data" / "x.txt")
    assert python("print(open('x.txt').read())", "--file", path).stdout == b"data\n"


def test_code_takes_arguments() -> None:
    show = "import sys; print(sys.argv[1:])"
    done = coderunner("run", "-l", "python", "-c", show, "a", "b c", "--", "-d")
    assert done.stdout == b"['a', 'b c', '-d']\n"


def test_source_from_stdin() -> None:
    done = coderunner("run", "-l", "python", "-", "arg", stdin=b"import sys; print(sys.argv[1:])")
    assert done.stdout == b"['arg']\n"


def test_a_file_without_extension_is_still_the_main_one(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("import helper\nprint('main')")
    (tmp_path / "helper.py").write_text("")
    done = coderunner("run", "-l", "python", "script", "helper.py", cwd=tmp_path)
    assert done.stdout == b"main\n"


def test_source_from_a_process_substitution() -> None:
    assert shell("coderunner run -l python <(echo 'print(1)')").stdout == b"1\n"


NONSENSE = [
    (["run"], "nothing to run"),
    (["run", "missing.py"], "no file 'missing.py'"),
    (["run", "/"], "is a directory"),
    (["run", "-c", "1"], "-c needs a language"),
    (["run", "-"], "- needs a language"),
    (["run", "/etc/hostname"], "cannot tell the language"),
    (["run", "-l", "pyhton", "-c", "1"], "no language is called 'pyhton'"),
    (["run", "-l", "python", "-c", "1", "--time", "0"], "--time '0'"),
    (["run", "-l", "python", "-c", "1", "--memory", "lots"], "--memory 'lots'"),
    (["run", "-l", "python", "-c", "1", "--time", "20m"], "above the configured ceiling"),
    (["run", "-l", "python", "-c", "1", "--engine", "steam"], "no engine is called 'steam'"),
    (["run", "-l", "python", "-c", "1", "--isolation", "some"], "--isolation"),
    (["run", "-l", "python", "-c", "1", "--file", "../x=/etc/hosts"], "'../x'"),
    (["run", "-l", "python", "/dev/zero", "--disk", "2M"], "larger than the sandbox's disk of 2"),
    (["run", "--bogus"], "no such option: --bogus"),
    (["bogus"], "no such command 'bogus'"),
    (["languages", "--", "x"], "only `run` takes arguments"),
]


@pytest.mark.parametrize(("args", "words"), NONSENSE, ids=lambda value: str(value)[-24:])
def test_usage_errors(args: list[str], words: str, tmp_path: Path) -> None:
    done = coderunner(*args, env=environment(TMPDIR=str(tmp_path)))
    lines = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (2, b"")
    assert lines[0].startswith("error: ")
    assert words in lines[0]
    assert all(line.startswith("hint: ") for line in lines[1:])
    assert list(tmp_path.iterdir()) == []


def test_a_weak_engine_is_refused_unless_asked_for_by_name() -> None:
    refused = python("print(1)", "--engine", "process")
    assert (refused.returncode, refused.stdout) == (3, b"")
    assert b"hint: " in refused.stderr
    assert b"--isolation none" in refused.stderr
    assert python("print(1)", "--engine", "process", "--isolation", "none").stdout == b"1\n"


def test_a_setting_that_makes_no_sense() -> None:
    done = python("print(1)", env=environment(CODERUNNER_MIN_ISOLATION="iron"))
    assert done.returncode == 2
    assert b"CODERUNNER_MIN_ISOLATION" in done.stderr


def test_the_help_tells_the_real_defaults() -> None:
    text = " ".join(coderunner("run", "--help").stdout.decode().split())
    for flag, limit in FLAGS.items():
        shown = re.search(rf" {flag} [A-Z]+ [^\[]*?(?:\[default: (\w+)\]| --)", text)
        assert shown, flag
        default = getattr(Limits(), limit.field)
        assert (limit.parse(shown[1]) if shown[1] else None) == default, flag


def test_a_variable_of_the_environment() -> None:
    code = "import os; print(os.environ['GREETING'], os.environ['EMPTY'] == '')"
    done = python(code, "--env", "GREETING=a=b", "--env", "EMPTY=")
    assert done.stdout == b"a=b True\n"
    assert python("", "--env", "GREETING").returncode == 2
    assert python("", "--env", "=x").returncode == 2
