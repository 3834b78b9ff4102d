"""What the specification of the simple endpoints says, on a real service."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.server.conftest import Service, ServiceMaker

pytestmark = pytest.mark.integration
_FIELDS = {
    *("stdout", "stderr", "exit_code", "execution_time_ms", "container_id", "language"),
    *("image_name", "memory_used_mb", "cpu_percent", "file_path"),
}
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def test_the_answer_to_a_hello(service: Service) -> None:
    answer = service.execute("print('Hello, world!')")
    assert answer.status_code == 200
    said = answer.json()
    assert said.keys() == _FIELDS
    assert (said["stdout"], said["stderr"], said["exit_code"]) == ("Hello, world!\n", "", 0)
    assert said["language"] == "python"
    assert 0 < said["execution_time_ms"] < 10_000
    assert said["memory_used_mb"] > 1
    assert re.fullmatch(rf"/tmp/exec_{_UUID}\.py", said["file_path"])
    assert re.fullmatch(r"[0-9a-f]{12}", said["container_id"])


def test_the_code_is_where_the_answer_says(service: Service) -> None:
    code = "import glob, os; print(os.getcwd(), *glob.glob('/tmp/exec_*'), open(__file__).read())"
    said = service.execute(code).json()
    assert said["stdout"] == f"/tmp {said['file_path']} {code}\n"


@pytest.mark.languages
def test_every_language_of_the_registry(service: Service) -> None:
    hellos = {
        "python": "print('hi')",
        "ruby": "puts 'hi'",
        "javascript": "console.log('hi')",
        "typescript": "const hi: string = 'hi'; console.log(hi)",
        "bash": "echo hi",
        "perl": 'print "hi\\n";',
        "php": "<?php echo 'hi', PHP_EOL;",
        "lua": "print('hi')",
        "c": '#include <stdio.h>\nint main(void) { puts("hi"); }',
        "cpp": '#include <iostream>\nint main() { std::cout << "hi\\n"; }',
        "java": 'class Any { public static void main(String[] a) { System.out.println("hi"); } }',
        "go": 'package main\nimport "fmt"\nfunc main() { fmt.Println("hi") }',
        "rust": 'fn main() { println!("hi"); }',
    }
    for language, code in hellos.items():
        said = service.execute(code, language).json()
        assert (said["stdout"], said["exit_code"]) == ("hi\n", 0), (language, said)


def test_errors_of_the_code_are_good_answers(service: Service) -> None:
    answer = service.execute('puts "Hello"\nraise "Something went wrong"\nputs "never"', "ruby")
    said = answer.json()
    assert answer.status_code == 200
    assert (said["stdout"], said["exit_code"]) == ("Hello\n", 1)
    assert "Something went wrong" in said["stderr"]
    assert re.fullmatch(rf"/tmp/exec_{_UUID}\.rb", said["file_path"])


def test_code_that_does_not_parse(service: Service) -> None:
    said = service.execute("print(").json()
    assert said["exit_code"] == 1
    assert "SyntaxError" in said["stderr"]


def test_code_that_does_not_compile(service: Service) -> None:
    answer = service.execute("int main( { }", "c")
    assert answer.status_code == 200
    assert answer.json()["exit_code"] == 1
    assert "error" in answer.json()["stderr"]


@pytest.mark.parametrize("language", ["python", "ruby", "bash"])
def test_empty_code_runs(service: Service, language: str) -> None:
    said = service.execute("", language).json()
    assert (said["stdout"], said["stderr"], said["exit_code"]) == ("", "", 0)


def test_an_endless_loop_is_ended_with_what_it_had_printed(serve: ServiceMaker) -> None:
    service = serve(timeout_ms=700)
    answer = service.execute("print('before', flush=True)\nwhile True: pass")
    said = answer.json()
    assert answer.status_code == 200
    assert (said["stdout"], said["exit_code"]) == ("before\n", 124)
    assert "timed out after 0.7 seconds" in said["stderr"]


def test_too_much_memory_is_137(service: Service) -> None:
    said = service.execute("print('before', flush=True)\nx = bytearray(300 << 20)").json()
    assert (said["stdout"], said["exit_code"]) == ("before\n", 137)


def test_output_is_cut_at_10_kb_and_the_program_goes_on(service: Service) -> None:
    said = service.execute("print('x' * 50_000); import sys; sys.exit(3)").json()
    assert said["stdout"] == "x" * 10 * 1024 + "\n[Output truncated at 10KB limit]"
    assert said["exit_code"] == 3
    said = service.execute("import sys; print('é' * 9_000, file=sys.stderr)").json()
    assert said["stderr"] == "é" * 5 * 1024 + "\n[Output truncated at 10KB limit]"
    exactly = service.execute("print('x' * (10 * 1024 - 1))").json()
    assert exactly["stdout"] == "x" * (10 * 1024 - 1) + "\n"


def test_output_of_any_bytes(service: Service) -> None:
    code = "import sys; sys.stdout.buffer.write(b'a\\xff\\x00\\xed\\xa0\\x80b')"
    said = service.execute(code).json()
    assert said["stdout"].startswith("a\ufffd\x00")


def test_there_is_no_network(service: Service) -> None:
    code = f"import socket; socket.create_connection(('127.0.0.1', {service.port}), 1)"
    assert "ConnectionRefusedError" in service.execute(code).json()["stderr"]


def test_a_body_of_more_than_100_kb(service: Service) -> None:
    assert service.execute("#" * (99 * 1024)).status_code == 200
    answer = service.execute("#" * (100 * 1024))
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_language_that_nobody_knows(service: Service) -> None:
    answer = service.execute("", "cobol")
    assert answer.status_code == 404
    assert "cobol" in answer.json()["detail"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"code": 5}', b'{"code": null}'])
def test_bodies_that_are_no_request(service: Service, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = service.client.post("/execute/python", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_many_at_once_do_not_meet(service: Service) -> None:
    code = (
        "import os; open('mine', 'x').write('{0}'); print(open('mine').read(), len(os.listdir()))"
    )
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda n: service.execute(code.format(n)).json(), range(32)))
    assert [said["stdout"] for said in answers] == [f"{n} 3\n" for n in range(32)]
    assert len({said["file_path"] for said in answers}) == 32


def test_health(service: Service) -> None:
    service.execute("")
    said = service.client.get("/health").json()
    assert said["status"] == "ok"
    assert said["containers"]["python"] == "running"
    assert 0 <= said["uptime_seconds"] < 3600


def test_pages_of_the_app_may_call(service: Service) -> None:
    origin = "http://localhost:3000"
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    preflight = service.client.options("/execute/python", headers={"Origin": origin, **asked})
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == origin
    answer = service.execute("print(1)", headers={"Origin": origin})
    assert answer.headers["access-control-allow-origin"] == origin
    refused = service.execute("print(1)", headers={"Origin": "http://evil.example"})
    assert refused.status_code == 403


def test_idle_workers_are_ended_and_come_again(serve: ServiceMaker) -> None:
    service = serve(idle_seconds=0.3, check_seconds=0.1)
    assert service.execute("print(1)").json()["stdout"] == "1\n"
    deadline = time.monotonic() + 20
    while service.client.get("/health").json()["containers"]["python"] != "stopped":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert service.client.get("/health").json()["status"] == "degraded"
    assert service.execute("print(2)").json()["stdout"] == "2\n"
