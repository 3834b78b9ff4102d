"""The front door, on real programs in real sandboxes."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from coderunner import EngineUnavailable, Runner, Settings
from coderunner.engines.fake import FakeEngine, Script
from coderunner.judge import (
    CodeRunner,
    ExecutionStatus,
    Language,
    TestCase,
    TestGroup,
    TestResult,
    TestStatus,
    Tokens,
    Verdict,
    View,
)
from coderunner.judge.groups import Scoring
from tests.judge.asking import ask, request
from tests.support import require_sandbox, require_toolchain

pytestmark = pytest.mark.engines

# In each language: reads two numbers and prints their sum.
SUMS = {
    Language.PYTHON: "print(sum(map(int, input().split())))",
    Language.PYTHON3: "print(sum(map(int, input().split())))",
    Language.C: "#include <stdio.h>\n"
    'int main(void){int a,b;scanf("%d%d",&a,&b);printf("%d\\n",a+b);}',
    Language.CPP: "#include <iostream>\nint main(){int a,b;std::cin>>a>>b;std::cout<<a+b<<'\\n';}",
    Language.JAVA: "import java.util.*;\npublic class Sum { public static void main(String[] x) {"
    " Scanner s = new Scanner(System.in); System.out.println(s.nextInt() + s.nextInt()); } }",
    Language.JAVASCRIPT: "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ');"
    " console.log(+a + +b)",
    Language.GO: 'package main\nimport "fmt"\nfunc main() { var a, b int; fmt.Scan(&a, &b);'
    " fmt.Println(a + b) }",
    Language.RUST: "use std::io;\nfn main() { let mut s = String::new();"
    " io::stdin().read_line(&mut s).unwrap();"
    " let n: i32 = s.split_whitespace().map(|x| x.parse::<i32>().unwrap()).sum();"
    ' println!("{}", n); }',
    Language.RUBY: "puts gets.split.map(&:to_i).sum",
    Language.PHP: "<?php echo array_sum(explode(' ', trim(fgets(STDIN)))), \"\\n\";",
    Language.PERL: "my ($a, $b) = split ' ', <STDIN>; print $a + $b, \"\\n\";",
    Language.LUA: "print(io.read('n') + io.read('n'))",
    Language.BASH: "read a b; echo $((a + b))",
    Language.TYPESCRIPT: "const t: string = require('fs').readFileSync(0, 'utf8');"
    " const n: number[] = t.split(' ').map(Number); console.log(n[0] + n[1])",
}


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


@pytest.mark.languages
@pytest.mark.parametrize("language", Language, ids=lambda language: language.value)
async def test_every_language_can_be_judged(language: Language) -> None:
    require_toolchain(language.value)
    result = await ask(SUMS[language], ("2 3", "5"), ("2 3", "6"), language=language)
    assert result.status is ExecutionStatus.SOME_PASSED, result
    passed, wrong = result.test_results
    assert (passed.status, wrong.status) == (TestStatus.PASSED, TestStatus.WRONG_ANSWER)
    for test in result.test_results:
        assert test.memory_used_kb > 0
        assert test.execution_time_ms > 0
        assert test.cpu_time_ms > 0
    compiled = language in {
        Language.C, Language.CPP, Language.GO, Language.JAVA, Language.RUST, Language.TYPESCRIPT,
    }  # fmt: skip
    assert (result.compilation_time_ms is not None) is compiled


@pytest.mark.parametrize(
    ("code", "status", "message"),
    [
        ("print('wrong')", TestStatus.WRONG_ANSWER, None),
        ("import sys; sys.exit(3)", TestStatus.RUNTIME_ERROR, "Exit code: 3"),
        ("raise ValueError('oops')", TestStatus.RUNTIME_ERROR, "ValueError: oops"),
        ("import os; os.abort()", TestStatus.RUNTIME_ERROR, "signal 6 (SIGABRT)"),
        ("import time; time.sleep(60)", TestStatus.TIMEOUT, "Test execution timed out"),
        ("while True: pass", TestStatus.TIMEOUT, "Test execution timed out"),
        ("x = bytearray(10**9)", TestStatus.MEMORY_EXCEEDED, "Memory limit exceeded (256 MB)"),
        ("while True: print('x' * 999)", TestStatus.RUNTIME_ERROR, "Output limit exceeded (64 KB)"),
    ],
)
async def test_every_status(code: str, status: TestStatus, message: str | None) -> None:
    result = await ask(code, ("", "right"), timeout_ms=1_500, output_limit_kb=64)
    (test,) = result.test_results
    assert test.status is status
    assert message is None or message in (test.error_message or "")
    assert (test.error_message is None) == (status is TestStatus.WRONG_ANSWER)


async def test_what_was_printed_before_the_time_ran_out_is_there() -> None:
    code = "import time; print('so far', flush=True); time.sleep(60)"
    result = await ask(code, timeout_ms=500)
    assert result.test_results[0].actual_output == "so far\n"


async def test_a_compile_error() -> None:
    result = await ask("int main(void) { return oops; }", language="c")
    assert result.status is ExecutionStatus.COMPILATION_ERROR
    assert result.test_results == []
    assert "oops" in (result.compilation_output or "")
    assert result.summary.startswith("Compilation failed: ")
    assert (result.compilation_time_ms or 0) > 0
    assert result.error_info is not None
    assert (result.error_info.code, result.error_info.stage) == ("COMPILATION_ERROR", "compilation")
    assert "oops" in result.error_info.message


async def test_what_the_compiler_warns_of_is_in_the_result() -> None:
    code = "#warning careful now\nint main(void) { return 0; }"
    result = await ask(code, language="c")
    assert result.status is ExecutionStatus.ALL_PASSED
    assert "careful now" in (result.compilation_output or "")


async def test_a_test_may_have_a_time_of_its_own() -> None:
    code = "import time; time.sleep(float(input())); print('ok')"
    tests = (TestCase("a", "0.6", "ok", timeout_ms=100), TestCase("b", "0.6", "ok"))
    result = await ask(code, *tests, timeout_ms=10_000)
    assert [test.status for test in result.test_results] == [TestStatus.TIMEOUT, TestStatus.PASSED]


async def test_when_the_total_runs_out_the_rest_is_marked() -> None:
    code = "import time; time.sleep(0.4); print('ok')"
    result = await ask(code, *[("", "ok")] * 8, total_timeout_ms=1_000)
    statuses = [test.status for test in result.test_results]
    assert len(statuses) == 8
    assert statuses[0] is TestStatus.PASSED
    assert statuses[-1] is TestStatus.TIMEOUT
    last = result.test_results[-1]
    assert (last.error_message, last.execution_time_ms) == ("Total timeout exceeded", 0)
    assert result.total_time_ms < 5_000


async def test_cpu_that_children_use_counts() -> None:
    """One core for two seconds of work in two processes: that takes two seconds."""
    code = """
import os, time
def burn():
    began = time.process_time()
    while time.process_time() - began < 0.5: pass
children = []
for _ in range(2):
    pid = os.fork()
    if not pid:
        burn()
        os._exit(0)
    children.append(pid)
for pid in children: os.waitpid(pid, 0)
print("ok")
"""
    result = await ask(code, ("", "ok"), timeout_ms=20_000)
    (test,) = result.test_results
    assert test.status is TestStatus.PASSED
    assert test.cpu_time_ms >= 950


async def test_right_answers_may_be_larger_than_the_output_limit() -> None:
    text = "line\n" * 100_000
    code = "import sys\nfor _ in range(100_000): print('line')"
    result = await ask(code, ("", text), output_limit_kb=8, keep_output_kb=1)
    (test,) = result.test_results
    assert test.status is TestStatus.PASSED
    assert test.actual_output.endswith("[498976 bytes left out]")


async def test_nul_characters_are_taken_out() -> None:
    assert (await ask("print\0(1)", ("", "1"))).status is ExecutionStatus.ALL_PASSED


async def test_text_of_every_kind_goes_through() -> None:
    text = "ä€𝄞 \x01\t"
    result = await ask("print(input())", (text, text))
    assert result.status is ExecutionStatus.ALL_PASSED


async def test_output_that_is_no_text_is_no_crash() -> None:
    code = r"import os; os.write(1, b'\xff\x00\xfe')"
    (test,) = (await ask(code, ("", "?"))).test_results
    assert test.status is TestStatus.WRONG_ANSWER
    assert test.actual_output == "�\0�"


async def test_a_checker_of_your_choice() -> None:
    near = Tokens(float_absolute_tolerance=0.01)
    result = await ask("print(0.334)", ("", "0.3333"), checker=near)
    assert result.status is ExecutionStatus.ALL_PASSED


async def test_stop_at_the_first_failure() -> None:
    code = "n = int(input()); print(n if n != 2 else 'no')"
    tests = [(str(n), str(n)) for n in range(1, 5)]
    result = await ask(code, *tests, stop_on_failure=True, parallel=2)
    assert [test.status.value for test in result.test_results] == [
        "passed", "wrong_answer", "skipped", "skipped",
    ]  # fmt: skip
    assert result.status is ExecutionStatus.SOME_PASSED


async def test_groups_are_scored() -> None:
    code = "n = int(input()); print(n if n != 4 else 'no')"
    tests = [
        TestCase(str(n), str(n), str(n), group="easy" if n < 3 else "hard") for n in range(1, 6)
    ]
    groups = [TestGroup("easy", 30), TestGroup("hard", 60, Scoring.SUM)]
    result = await ask(code, *tests, groups=groups)
    assert (result.score, result.max_score) == (70, 90)
    easy, hard = result.groups
    assert (easy.verdict, easy.score, easy.max_score) == (Verdict.ACCEPTED, 30, 30)
    assert (hard.verdict, hard.score, hard.max_score) == (Verdict.WRONG_ANSWER, 40, 60)


async def test_a_group_ends_at_its_first_failure_and_the_next_goes_on() -> None:
    tests = [
        TestCase(str(n), "", "no" if n == 1 else "ok", group=f"g{n // 4}") for n in range(1, 8)
    ]
    groups = [TestGroup("g0", 50), TestGroup("g1", 50)]
    result = await ask("print('ok')", *tests, groups=groups, stop_on_failure=True)
    assert [test.status.value for test in result.test_results] == [
        "wrong_answer", "skipped", "skipped", "passed", "passed", "passed", "passed",
    ]  # fmt: skip
    assert result.score == 50


async def test_tests_run_side_by_side_where_asked() -> None:
    code = "import time; time.sleep(0.5); print('ok')"
    began = time.monotonic()
    result = await ask(code, *[("", "ok")] * 8, parallel=8)
    assert result.status is ExecutionStatus.ALL_PASSED
    assert time.monotonic() - began < 3.9  # one after the other they sleep for four


async def test_each_result_is_told_in_the_callers_own_thread() -> None:
    told: list[tuple[str, int]] = []

    async def on_result(result: TestResult) -> None:
        await asyncio.sleep(0)
        told.append((result.test_id, threading.get_ident()))

    await CodeRunner().execute(request("print(1)", ("", "1"), ("", "2")), on_result=on_result)
    assert told == [("t1", threading.get_ident()), ("t2", threading.get_ident())]


async def test_a_listener_that_raises_ends_it() -> None:
    def on_result(result: TestResult) -> None:
        raise LookupError("not now")

    with pytest.raises(LookupError, match="not now"):
        await CodeRunner().execute(request("print(1)", *[("", "1")] * 3), on_result=on_result)


def test_without_async() -> None:
    told: list[str] = []
    asked = request("print(input())", ("1", "1"), ("2", "2"))
    runner = CodeRunner()
    result = runner.execute_sync(asked, on_result=lambda result: told.append(result.test_id))
    assert result.status is ExecutionStatus.ALL_PASSED
    assert told == ["t1", "t2"]


def test_from_many_threads_and_loops_at_once() -> None:
    found: list[ExecutionStatus] = []

    def one(number: int) -> None:
        asked = request("print(input())", (str(number), str(number)))
        runner = CodeRunner()
        result = asyncio.run(runner.execute(asked)) if number % 2 else runner.execute_sync(asked)
        found.append(result.status)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [ExecutionStatus.ALL_PASSED] * 8


async def test_a_cancellation_kills_at_once() -> None:
    tests = [TestCase(str(number), "", "") for number in range(4)]
    asked = request("sleep 7654321", *tests, language="bash", timeout_ms=60_000, parallel=4)
    async with Runner.open() as own:
        running = [CodeRunner(runner=own).execute(asked), CodeRunner().execute(asked)]
        for task in [asyncio.create_task(one) for one in running]:
            while len(sleepers()) < 4:  # noqa: ASYNC110 - nobody tells us when they have started
                await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert sleepers() == []


def sleepers() -> list[str]:
    """Programs of that test that are there."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if b"sleep\x007654321" in (folder / "cmdline").read_bytes():
                found.append(folder.name)
    return found


async def test_a_runner_of_your_own() -> None:
    async with Runner.open(Settings(warm=False)) as own:
        result = await CodeRunner(runner=own).execute(request("print(1)", ("", "1")))
        assert result.status is ExecutionStatus.ALL_PASSED
        assert result.isolation == (await own.engine.capabilities()).isolation.value
        assert repr(CodeRunner(runner=own)) == "CodeRunner(engine='linux')"


async def test_the_process_engine_judges_the_same() -> None:
    settings = Settings(engine="process", min_isolation="none")  # type: ignore[arg-type]
    async with Runner.open(settings) as own:
        runner = CodeRunner(runner=own)
        result = await runner.execute(request("print(int(input()) * 2)", ("5", "10"), ("1", "3")))
        assert result.status is ExecutionStatus.SOME_PASSED
        result = await runner.execute(request("while True: pass", timeout_ms=500))
        assert result.status is ExecutionStatus.TIMEOUT


@pytest.fixture
async def broken() -> AsyncIterator[CodeRunner]:
    trouble = EngineUnavailable("the spawner died", hint="run it again")
    async with Runner(FakeEngine([Script(), Script(wait_error=trouble)])) as own:
        yield CodeRunner(runner=own)


async def test_trouble_of_the_machine_is_not_the_codes_fault(broken: CodeRunner) -> None:
    result = await broken.execute(request("print(1)", ("", ""), ("", "")))
    assert result.status is ExecutionStatus.SANDBOX_ERROR
    assert result.summary == "Sandbox error: the spawner died"
    assert result.error_info is not None
    assert result.error_info.code == "SANDBOX_ERROR"
    assert result.error_info.details == "run it again"


async def test_a_compiler_that_is_not_installed() -> None:
    settings = Settings(toolchains={"cc": "/nonexistent/gcc"})
    async with Runner.open(settings) as own:
        result = await CodeRunner(runner=own).execute(request("int main(){}", language="c"))
    assert result.status is ExecutionStatus.SANDBOX_ERROR
    assert result.error_info is not None
    assert result.error_info.code == "TOOLCHAIN_MISSING"


def test_views_may_be_named_by_text() -> None:
    asked = request("print(1)", TestCase("h", "", "2", is_hidden=True))
    result = CodeRunner().execute_sync(asked, view="grader")  # type: ignore[arg-type]
    assert result.test_results[0].actual_output == "1\n"
    assert result.view is View.GRADER
