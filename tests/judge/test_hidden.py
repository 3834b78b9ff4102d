"""Hidden tests stay hidden: whatever a program does with what it has read, its author learns no
more than a verdict, a time and a size."""

from __future__ import annotations

import json

import pytest

from coderunner.judge import (
    CheckerProgram,
    CodeRunner,
    Convention,
    ExecutionRequest,
    ExecutionStatus,
    Interactor,
    TestCase,
    TestResult,
    TestStatus,
    View,
    execution_result_to_artifact,
)
from coderunner.judge.result import HIDDEN
from tests.judge.asking import request

pytestmark = pytest.mark.engines

INPUT, ANSWER = "input-7f3a", "answer-91cc"
SECRETS = (INPUT, ANSWER)

# Each tries to carry its input out by another way.
LEAKS = {
    "stdout": "print(input())",
    "stderr": "import sys; sys.exit(input())",
    "traceback": "raise ValueError(input())",
    "exit code": "import sys; sys.exit(ord(input()[0]))",
    "signal": "import os; os.kill(os.getpid(), 10 + len(input()) % 2)",
    "time": "import sys, time; print(input(), file=sys.stderr, flush=True); time.sleep(60)",
    "memory": "import sys; print(input(), file=sys.stderr, flush=True); x = bytearray(10**9)",
    "flood": "s = input()\nwhile True: print(s)",
}


def hidden() -> TestCase:
    return TestCase("secret-1", INPUT, ANSWER, is_hidden=True, description="the hard one")


async def author_sees(asked: ExecutionRequest) -> str:
    """Everything that comes back, as text."""
    told: list[TestResult] = []
    result = await CodeRunner().execute(asked, on_result=told.append)
    artifact, content = execution_result_to_artifact(result)
    grader = await CodeRunner().execute(asked, view=View.GRADER)
    from_grader = execution_result_to_artifact(grader)
    views = (result, result.to_json(), told, artifact, content, from_grader, grader.for_author())
    return "\n".join(map(repr, views))


@pytest.mark.parametrize("code", LEAKS.values(), ids=LEAKS)
async def test_nothing_gets_out(code: str) -> None:
    asked = request(code, hidden(), timeout_ms=1_000, output_limit_kb=64)
    seen = await author_sees(asked)
    for secret in SECRETS:
        assert secret not in seen
    assert "secret-1" in seen  # its name is no secret


async def test_not_even_the_exit_code() -> None:
    result = await CodeRunner().execute(request(LEAKS["exit code"], hidden()))
    (test,) = result.test_results
    assert test.status is TestStatus.RUNTIME_ERROR
    assert (test.exit_code, test.signal, test.stderr) == (None, None, "")
    assert test.error_message == "Runtime error"
    assert (test.actual_output, test.expected_output) == (HIDDEN, HIDDEN)
    assert result.summary == "0/1 passed. Runtime error: in a hidden test"
    assert result.error_info is not None
    assert result.error_info.details is None


async def test_a_grader_sees_it_all() -> None:
    result = await CodeRunner().execute(request(LEAKS["stdout"], hidden()), view=View.GRADER)
    (test,) = result.test_results
    assert test.actual_output == INPUT + "\n"
    assert test.expected_output == ANSWER
    assert test.difference is not None
    assert ANSWER in test.difference
    assert result.view is View.GRADER
    assert INPUT in json.loads(result.to_json())["error_info"]["details"]


async def test_open_tests_are_told_beside_hidden_ones() -> None:
    shown = TestCase("open", "1", "2")
    result = await CodeRunner().execute(request("print(input())", shown, hidden()))
    first, second = result.test_results
    assert (first.actual_output, first.expected_output) == ("1\n", "2")
    assert first.difference is not None
    assert second.difference is None
    assert result.error_info is not None
    assert result.error_info.details == "1\n"


async def test_a_checkers_words_about_a_hidden_test_are_not_for_the_author() -> None:
    talkative = CheckerProgram(
        "import sys\n"
        "open(sys.argv[3] + 'judgemessage.txt', 'w').write(open(sys.argv[2]).read())\n"
        "open(sys.argv[3] + 'teammessage.txt', 'w').write(open(sys.argv[1]).read())\n"
        "sys.exit(43)\n",
        "python",
    )
    asked = request("print(1)", hidden(), checker=talkative)
    seen = await author_sees(asked)
    assert not any(secret in seen for secret in SECRETS)
    grader = await CodeRunner().execute(asked, view=View.GRADER)
    assert grader.test_results[0].judge_message == ANSWER
    assert grader.test_results[0].feedback == INPUT


@pytest.mark.parametrize("convention", Convention)
async def test_nor_what_it_says_when_it_fails(convention: Convention) -> None:
    code = "import sys; print(open(sys.argv[1]).read(), file=sys.stderr); sys.exit(3)"
    failing = CheckerProgram(code, "python", convention)
    asked = request("print(1)", TestCase("open", INPUT, ANSWER), checker=failing)
    result = await CodeRunner().execute(asked)
    assert result.status is ExecutionStatus.SANDBOX_ERROR
    assert result.summary == "Not judged, at test open: The checker failed"


async def test_nor_the_code_of_one_that_does_not_compile() -> None:
    broken = CheckerProgram(f'int main(void) {{ char *answer = "{ANSWER}"; return oops }}', "c")
    result = await CodeRunner().execute(request("print(1)", hidden(), checker=broken))
    assert result.status is ExecutionStatus.SANDBOX_ERROR
    assert result.error_info is not None
    assert result.error_info.code == "CHECKER_ERROR"
    assert ANSWER not in repr(result)
    grader = request("print(1)", hidden(), checker=broken)
    full = await CodeRunner().execute(grader, view=View.GRADER)
    assert full.error_info is not None
    assert ANSWER in full.error_info.message


async def test_nor_a_conversation() -> None:
    interactor = Interactor(
        "import sys; print(open(sys.argv[1]).read(), flush=True); input(); sys.exit(43)", "python"
    )
    asked = request("print(input())", hidden(), interactor=interactor)
    seen = await author_sees(asked)
    assert not any(secret in seen for secret in SECRETS)
    grader = await CodeRunner().execute(asked, view=View.GRADER)
    assert f"< {INPUT}" in (grader.test_results[0].judge_message or "")


async def test_the_tests_are_nowhere_in_the_box() -> None:
    """Neither on its disk nor in its environment or arguments."""
    code = """
import os, sys
given = sys.stdin.read()
places = ["/proc/self/environ", "/proc/self/cmdline"]
for top in ("/workspace", "/tmp", "/dev/shm", "/etc", "/var"):
    for folder, _, names in os.walk(top):
        places += [os.path.join(folder, name) for name in names]
found = []
for place in places:
    try:
        data = open(place, "rb").read(1 << 20)
    except OSError:
        continue
    if b"answer" + b"-91cc" in data or b"input" + b"-7f3a" in data:
        found.append(place)
print(len(places) > 5, found)
"""
    result = await CodeRunner().execute(request(code, hidden()), view=View.GRADER)
    assert result.test_results[0].actual_output == "True []\n", result.test_results[0]
