"""Checkers that are programs: both conventions, whatever they do."""

from __future__ import annotations

import pytest

from coderunner.errors import InvalidInput
from coderunner.judge import (
    CheckerProgram,
    Convention,
    ExecutionResult,
    ExecutionStatus,
    Regex,
    TestCase,
    TestGroup,
    TestStatus,
)
from coderunner.judge.checkers import regex
from tests.judge.asking import ask
from tests.support import require_sandbox, require_toolchain

pytestmark = pytest.mark.engines

# Right is what has the same digits in any order.
ICPC = """
import sys
given, answer, feedback, *flags = sys.argv[1:]
output = sys.stdin.read()
open(feedback + "judgemessage.txt", "w").write(f"{open(given).read()}|{flags}")
open(feedback + "teammessage.txt", "w").write("look at the digits")
sys.exit(42 if sorted(output.strip()) == sorted(open(answer).read().strip()) else 43)
"""
TESTLIB = r"""
#include <stdio.h>
#include <string.h>

static int read_number(const char *name) {
    int number = -1;
    FILE *file = fopen(name, "r");
    if (!file || fscanf(file, "%d", &number) != 1) number = -1;
    return number;
}

int main(int argc, char **argv) {
    int input = read_number(argv[1]), output = read_number(argv[2]), answer = read_number(argv[3]);
    fprintf(stderr, "in %d out %d answer %d", input, output, answer);
    if (answer < 0) return 3;
    if (output < 0) return 2;
    return output == answer ? 0 : 1;
}
"""


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


async def checked(
    checker: CheckerProgram | Regex, output: str = "123", answer: str = "321"
) -> ExecutionResult:
    code = f"print({output!r})"
    return await ask(code, ("given", answer), checker=checker)


async def test_icpc() -> None:
    result = await checked(CheckerProgram(ICPC, "python", args=("--strict",)))
    (test,) = result.test_results
    assert test.status is TestStatus.PASSED
    assert test.judge_message == "given|['--strict']"
    assert test.feedback == "look at the digits"
    result = await checked(CheckerProgram(ICPC, "python"), answer="322")
    assert result.test_results[0].status is TestStatus.WRONG_ANSWER


@pytest.mark.parametrize(
    ("output", "answer", "status", "message"),
    [
        ("7", "7", TestStatus.PASSED, "in 5 out 7 answer 7"),
        ("8", "7", TestStatus.WRONG_ANSWER, "in 5 out 8 answer 7"),
        ("x", "7", TestStatus.WRONG_ANSWER, "in 5 out -1 answer 7"),
        ("7", "x", TestStatus.JUDGE_ERROR, "the checker failed: Exit code: 3"),
    ],
)
async def test_testlib(output: str, answer: str, status: TestStatus, message: str) -> None:
    require_toolchain("c")
    checker = CheckerProgram(TESTLIB, "c", Convention.TESTLIB)
    result = await ask(f"print({output!r})", ("5", answer), checker=checker)
    (test,) = result.test_results
    assert test.status is status
    assert message in (test.judge_message or "")


async def test_files_beside_a_checker() -> None:
    code = '#include "limit.h"\nint main(void) { return LIMIT; }'
    result = await checked(CheckerProgram(code, "c", files={"limit.h": "#define LIMIT 42"}))
    assert result.status is ExecutionStatus.ALL_PASSED


@pytest.mark.parametrize(
    "code",
    [
        "raise ValueError('oops')",
        "import sys; sys.exit(0)",
        "import sys; sys.exit(1)",
        "import os; os.abort()",
        "x = bytearray(10**10)",
        "while True: print('x' * 10_000)",
        "import sys; open(sys.argv[3] + 'score.txt', 'w').write('many'); sys.exit(42)",
        "import sys; open(sys.argv[3] + 'score.txt', 'w').write('nan'); sys.exit(42)",
        "import sys; open(sys.argv[3] + 'score.txt', 'w').write('1e308'); sys.exit(42)",
    ],
)
async def test_a_checker_that_fails_gives_no_verdict(code: str) -> None:
    result = await checked(CheckerProgram(code, "python"))
    (test,) = result.test_results
    assert test.status is TestStatus.JUDGE_ERROR
    assert result.status is ExecutionStatus.SANDBOX_ERROR
    assert result.error_info is not None
    assert result.error_info.code == "CHECKER_ERROR"


async def test_a_checker_that_does_not_compile() -> None:
    result = await checked(CheckerProgram("int main(void) { return }", "c"))
    assert result.status is ExecutionStatus.SANDBOX_ERROR
    assert "the checker does not compile" in result.summary
    assert result.error_info is not None
    assert "expected expression" in result.error_info.message


@pytest.mark.parametrize(
    ("checker", "message"),
    [
        (CheckerProgram("  ", "python"), "the checker has no code"),
        (CheckerProgram("x", "pyton"), "no language is called 'pyton'"),
        (CheckerProgram("x", "python", files={"../x": ""}), "contains an empty part"),
    ],
)
async def test_a_checker_that_makes_no_sense(checker: CheckerProgram, message: str) -> None:
    result = await checked(checker)
    assert result.status is ExecutionStatus.SANDBOX_ERROR
    assert message in result.summary


async def test_a_program_that_failed_is_not_shown_to_the_checker() -> None:
    always = CheckerProgram("import sys; sys.exit(42)", "python")
    result = await ask("print(1); raise SystemExit(1)", checker=always)
    assert result.status is ExecutionStatus.RUNTIME_ERROR


async def test_a_score() -> None:
    code = "import sys; open(sys.argv[3] + 'score.txt', 'w').write('2.5'); sys.exit(42)"
    tests = [TestCase(str(number), "", "", group="all") for number in range(2)]
    groups = [TestGroup("all", 10, "sum")]  # type: ignore[arg-type]
    result = await ask("pass", *tests, groups=groups, checker=CheckerProgram(code, "python"))
    assert (result.score, result.max_score) == (5, 10)


async def test_a_part_of_the_score() -> None:
    code = "import sys; open(sys.argv[3] + 'score_multiplier.txt', 'w').write('.25'); sys.exit(42)"
    tests = [TestCase(str(number), "", "", group="all") for number in range(2)]
    groups = [TestGroup("all", 10, "sum")]  # type: ignore[arg-type]
    result = await ask("pass", *tests, groups=groups, checker=CheckerProgram(code, "python"))
    assert (result.score, result.max_score) == (2.5, 10)


async def test_points_in_testlibs_way() -> None:
    code = "import sys; print('points 3.5 well done', file=sys.stderr); sys.exit(7)"
    checker = CheckerProgram(code, "python", Convention.TESTLIB)
    tests = [TestCase("1", "", "", group="all")]
    result = await ask("pass", *tests, groups=[TestGroup("all", 10)], checker=checker)
    assert result.score == 3.5


async def test_megabytes_of_output_get_to_the_checker() -> None:
    code = "import sys; sys.exit(42 if len(sys.stdin.read()) == 6_000_001 else 43)"
    result = await ask("print('x' * 6_000_000)", checker=CheckerProgram(code, "python"))
    assert result.status is ExecutionStatus.ALL_PASSED
    code = "import os, sys; sys.exit(0 if os.path.getsize(sys.argv[2]) == 6_000_001 else 1)"
    testlib = CheckerProgram(code, "python", Convention.TESTLIB)
    result = await ask("print('x' * 6_000_000)", checker=testlib)
    assert result.status is ExecutionStatus.ALL_PASSED


@pytest.mark.parametrize(
    ("pattern", "output", "passes"),
    [
        (Regex(r"\d+"), "123", True),
        (Regex(r"\d+"), "123 ", True),
        (Regex(r"\d+"), "12a", False),
        (Regex(r"\d+"), "a12", False),
        (Regex("yes", ignore_case=True), "YES", True),
        (Regex("a.b"), "a\nb", False),
        (Regex("a.b", dot_all=True), "a\nb", True),
        (Regex("(^x$\n?)+", multiline=True), "x\nx\nx", True),
        (Regex("ä+"), "ää", True),
    ],
)
async def test_a_pattern(pattern: Regex, output: str, passes: bool) -> None:
    result = await checked(pattern, output)
    wanted = ExecutionStatus.ALL_PASSED if passes else ExecutionStatus.ALL_FAILED
    assert result.status is wanted


async def test_a_pattern_that_takes_for_ever_stops_at_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regex, "_TIME_MS", 500)
    result = await checked(Regex(r"(a|a)*b"), "a" * 5000)
    assert result.status is ExecutionStatus.SANDBOX_ERROR
    assert "the pattern failed: Test execution timed out" in result.summary


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(?P<a", "\ud800"])
def test_a_pattern_that_is_none(pattern: str) -> None:
    with pytest.raises(InvalidInput, match="is none"):
        Regex(pattern)
