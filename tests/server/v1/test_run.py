"""`POST /v1/run`: what goes in, what comes out, what is refused."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from typing import Any

import httpx
import pytest

from coderunner.answers import RunAnswer
from coderunner.model import Limits
from coderunner.server.v1.asked import GivenLimits
from coderunner.settings.server import CALLERS_CEILING as CEILING
from tests.cli.console import as_json, coderunner
from tests.server.conftest import Service
from tests.support import require_toolchain

pytestmark = pytest.mark.integration

Json = dict[str, Any]
HELLO = "print('hello')"


def answered(client: httpx.Client, **asked: Any) -> Json:
    response = client.post("/v1/run", json={"language": "python", **asked})
    assert response.status_code == 200, response.text
    RunAnswer.model_validate_json(response.text)
    found: Json = response.json()
    return found


def refused(client: httpx.Client, status: int = 422, **asked: Any) -> str:
    """In one text: what is wrong, and what to do about it."""
    response = client.post("/v1/run", json={"language": "python", **asked})
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    return f"{problem['detail']} {problem.get('hint', '')}"


def test_a_program_goes_in_and_facts_come_out(client: httpx.Client) -> None:
    said = answered(client, code=HELLO)
    assert said["execution"]["stdout"]["text"] == "hello\n"
    assert (said["ok"], said["exit_code"], said["execution"]["ended_by"]) == (True, 0, "exit")
    assert said["execution"]["usage"]["wall_ms"] > 0
    assert (said["compilation"], said["files"], said["files_left_out"]) == (None, [], [])


def test_it_says_what_the_command_line_says(client: httpx.Client) -> None:
    code = "import sys; print(1); sys.exit(3)"
    typed = as_json(coderunner("run", "--json", "-l", "python", "-c", code))
    said = answered(client, code=code)
    assert said.keys() - typed.keys() == {"files", "files_left_out"}
    for changing in ("usage", "warm"):
        del typed["execution"][changing], said["execution"][changing]
    assert {name: said[name] for name in typed} == typed


def test_input_arguments_files_and_environment_reach_the_program(client: httpx.Client) -> None:
    main = """
import os, sys
print(sys.stdin.read(), sys.argv[1:], open("data/a.bin", "rb").read(), os.environ["GREETING"])
"""
    said = answered(
        client,
        files=[{"name": "main.py", "text": main}, {"name": "data/a.bin", "base64": "AP8="}],
        stdin="in",
        args=["-x", "é"],
        env={"GREETING": "hi"},
    )
    assert said["execution"]["stdout"]["text"] == "in ['-x', 'é'] b'\\x00\\xff' hi\n"


def test_code_may_have_files_beside_it(client: httpx.Client) -> None:
    said = answered(
        client,
        code="print(open('a.txt').read())",
        files=[{"name": "a.txt", "text": "beside"}],
    )
    assert said["execution"]["stdout"]["text"] == "beside\n"


def test_no_code_is_a_program_too(client: httpx.Client) -> None:
    assert answered(client, code="")["ok"]


def test_input_may_be_bytes(client: httpx.Client) -> None:
    code = "import sys; print(sys.stdin.buffer.read())"
    said = answered(client, code=code, stdin={"base64": "//4A"})
    assert said["execution"]["stdout"]["text"] == "b'\\xff\\xfe\\x00'\n"


def test_bytes_that_are_no_text_come_back_as_they_are(client: httpx.Client) -> None:
    said = answered(client, code="import sys; sys.stdout.buffer.write(b'a\\xff\\0')")
    printed = said["execution"]["stdout"]
    assert printed["text"] == "a\ufffd\0"
    assert base64.b64decode(printed["base64"]) == b"a\xff\0"


def test_files_come_back_if_they_are_asked_for(client: httpx.Client) -> None:
    code = """
import os
os.mkdir("out")
open("out/a.txt", "w").write("é")
open("out/b.bin", "wb").write(b"\\xff")
open(b"out/\\xfe", "wb").close()
os.symlink("/etc/passwd", "out/link")
open("other", "w").close()
"""
    said = answered(client, code=code, collect=["out/**"])
    assert said["files"] == [
        {"name": "out/a.txt", "text": "é"},
        {"name": "out/b.bin", "base64": "/w=="},
        {"name": "out/\\xfe", "name_base64": "b3V0L/4=", "text": ""},
    ]
    assert said["files_left_out"] == [{"name": "out/link", "reason": "a symbolic link"}]


def test_what_comes_back_can_be_sent_again(client: httpx.Client) -> None:
    made = answered(client, code="open('a', 'wb').write(b'\\xff' * 3)", collect=["a"])
    again = "print(open('a', 'rb').read())"
    said = answered(client, code=again, files=made["files"])
    assert said["execution"]["stdout"]["text"] == "b'\\xff\\xff\\xff'\n"


def test_compilation_and_execution_are_told_apart(client: httpx.Client) -> None:
    require_toolchain("c")
    good = answered(client, language="c", code="int main(void) { return 3; }")
    assert (good["compilation"]["exit_code"], good["execution"]["exit_code"]) == (0, 3)
    bad = answered(client, language="c", code="int main(void) { oops }")
    assert (bad["ok"], bad["exit_code"], bad["execution"]) == (False, 1, None)
    assert "oops" in bad["compilation"]["stderr"]["text"]


def test_limits_hold(client: httpx.Client) -> None:
    slow = answered(client, code="while True: pass", limits={"wall_ms": 200})
    assert (slow["execution"]["ended_by"], slow["exit_code"]) == ("wall_time", 124)
    large = answered(client, code="x = bytearray(10**9)", limits={"memory_mb": 32})
    assert (large["execution"]["ended_by"], large["exit_code"]) == ("memory", 137)
    long = answered(client, code="print('x' * 1000)", limits={"output_bytes": 10})
    assert long["execution"]["stdout"]["dropped_bytes"] == 991


def test_the_compiler_has_limits_of_its_own(client: httpx.Client) -> None:
    require_toolchain("c")
    said = answered(
        client, language="c", code='#include "/dev/zero"', compile_limits={"wall_ms": 300}
    )
    assert said["execution"] is None
    assert said["compilation"]["ended_by"] in ("wall_time", "memory", "output")


def test_a_language_has_more_than_one_name(client: httpx.Client) -> None:
    assert answered(client, language="PY", code=HELLO)["language"] == "python"


NUMBERS = [0, -1, None, True, "5", 1.5, 10**13, 10**400]


@pytest.mark.parametrize("value", NUMBERS, ids=lambda value: str(value)[:8])
@pytest.mark.parametrize("field", ["limits", "compile_limits"])
def test_no_limit_is_guessed(client: httpx.Client, field: str, value: object) -> None:
    asked: Json = {"code": HELLO, field: {"wall_ms": value}}
    assert f"{field}.wall_ms" in refused(client, **asked)


@pytest.mark.parametrize("name", sorted(asdict(CEILING)))
def test_no_limit_is_above_the_ceiling(client: httpx.Client, name: str) -> None:
    most = asdict(CEILING)[name]
    if most is None:
        most = 10**12  # more than any machine has
    said = refused(client, code=HELLO, limits={name: most + 1})
    assert f"limits.{name}" in said
    assert "at most" in said or f"SERVER__CEILING__{name.upper()}" in said


@pytest.mark.parametrize("name", sorted(asdict(CEILING)))
def test_a_limit_that_is_too_tight_is_not_our_failure(client: httpx.Client, name: str) -> None:
    main = {"language": "c", "code": "int main(void) { return 0; }"}
    for asked in (
        {**main, "limits": {name: 1}},
        {**main, "compile_limits": {name: 1}},
        {"language": "python", "code": "", "limits": {name: 1}},
    ):
        response = client.post("/v1/run", json=asked)
        # An ordinary user may have no cgroup to hold cores in, and is told so.
        cannot = name == "cpus" and "cannot be held here" in response.text
        assert response.status_code in ((503,) if cannot else (200, 422)), response.text


def test_every_limit_may_be_given() -> None:
    assert GivenLimits.__annotations__.keys() == asdict(Limits()).keys()


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_number_is_no_limit(client: httpx.Client, text: str) -> None:
    body = f'{{"language": "python", "code": "", "limits": {{"cpus": {text}}}}}'
    headers = {"Content-Type": "application/json"}
    response = client.post("/v1/run", content=body, headers=headers)
    assert response.status_code in (400, 422), response.text


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "a\0b", "", ".", "a/../b", "a//b", "a\\b", "x" * 300, "a/" * 600 + "a"],
)
def test_no_file_is_anywhere_else(client: httpx.Client, name: str) -> None:
    refused(client, files=[{"name": "main.py", "text": ""}, {"name": name, "text": ""}])


def test_no_two_files_have_one_name(client: httpx.Client) -> None:
    twice = [{"name": "main.py", "text": ""}, {"name": "main.py", "text": ""}]
    assert "two files are named 'main.py'" in refused(client, files=twice)
    assert "two files are named 'main.py'" in refused(client, code="", files=twice[:1])
    below = [{"name": "main.py", "text": ""}, {"name": "main.py/a", "text": ""}]
    assert "both a file and the directory" in refused(client, files=below)


ODD: list[tuple[Json, str]] = [
    ({"code": "", "image": "evil"}, "image"),
    ({"code": "", "mounts": ["/"]}, "mounts"),
    ({"code": "", "limits": {"wall": 1}}, "limits.wall"),
    ({"code": "", "files": []}, "files"),
    ({"code": None}, "code"),
    ({"code": 1}, "code"),
    ({}, "nothing to run"),
    ({"files": [{"name": "a"}]}, "text or base64"),
    ({"files": [{"name": "a", "text": "", "base64": ""}]}, "text or base64"),
    ({"files": [{"name": "a", "base64": "a"}]}, "base64"),
    ({"files": [{"name": "a", "base64": "a" * 5}]}, "base64"),
    ({"code": "", "stdin": {"base64": "?"}}, "stdin"),
    ({"code": "", "stdin": ["a"]}, "stdin"),
    ({"code": "", "args": "a"}, "args"),
    ({"code": "", "args": ["a\0"]}, "NUL"),
    ({"code": "", "args": ["a" * 200_000]}, "128 KB"),
    ({"code": "", "collect": ["/etc/*"]}, "pattern"),
    ({"code": "", "collect": ["../*"]}, "pattern"),
    ({"code": "", "collect": ["*"] * 101}, "collect"),
    ({"code": "", "env": {"PATH": "/"}}, "env.PATH"),
    ({"code": "", "env": {"GREETING": None}}, "env.GREETING"),
    ({"code": "", "env": {"GREETING": "a\0"}}, "NUL"),
    ({"code": "", "env": {"GREETING": "a" * 200_000}}, "128 KB"),
]


@pytest.mark.parametrize(("asked", "names"), ODD, ids=lambda value: str(value)[:40])
def test_what_makes_no_sense_is_named(client: httpx.Client, asked: Json, names: str) -> None:
    assert names in refused(client, **asked)


def test_an_unknown_language_is_told_with_the_nearest(client: httpx.Client) -> None:
    assert "did you mean python" in refused(client, 404, language="pyhton", code="")


def test_an_answer_has_an_end(client: httpx.Client) -> None:
    """Files that are too much for an answer are named instead."""
    code = "open('large', 'wb').truncate(40 * 2**20); open('small', 'w').write('s')"
    said = answered(client, code=code, collect=["*e", "small"])
    assert said["files"] == [{"name": "small", "text": "s"}]
    assert said["files_left_out"][0]["name"] == "large"


def test_what_is_sent_is_not_logged(v1: Service, client: httpx.Client) -> None:
    answered(client, code=f"# {'secret'}\nprint(1)", stdin="secret")
    refused(client, code="", limits={"secret": 1})
    logged = [json.dumps(line) for line in v1.lines]
    assert not [line for line in logged if "secret" in line]
