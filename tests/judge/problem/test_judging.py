"""What a problem says of the whole of a submission's tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coderunner import Runner
from coderunner.judge.problem.judging import judge
from coderunner.judge.problem.reading import read_problem, read_submission
from coderunner.judge.verdict import Verdict
from tests.judge.problem.judged import judged
from tests.judge.problem.making import write
from tests.support import require_sandbox

pytestmark = pytest.mark.engines


async def test_a_total_time_holds_for_all_tests_together(tmp_path: Path) -> None:
    require_sandbox()
    tests = [{"id": str(n), "input": "", "expected_output": ""} for n in range(4)]
    written = {"test_cases": tests, "total_timeout_ms": 1000}
    write(tmp_path, {"p.json": json.dumps(written), "slow.py": "import time; time.sleep(0.45)"})
    async with Runner.open() as runner:
        problem = read_problem(tmp_path / "p.json", runner.languages)
        slow = read_submission([tmp_path / "slow.py"], runner.languages)
        [judgement] = (await judge(runner, problem, [slow])).judgements
    verdicts = [case.verdict for case in judgement.cases]
    assert verdicts[0] is Verdict.ACCEPTED
    assert verdicts[2:] == [Verdict.TIME_LIMIT] * 2
    assert judgement.cases[3].message == "Total timeout exceeded"
    assert judgement.verdict is Verdict.TIME_LIMIT


async def test_a_submission_that_cannot_be_run_keeps_no_other_from_being_judged(
    tmp_path: Path,
) -> None:
    require_sandbox()
    files = {
        "data/secret/1.in": "1\n",
        "data/secret/1.ans": "1\n",
        "data/secret/1.files/map.py": "",
        "submissions/accepted/good.py": "print(input())",
        "submissions/accepted/map.py": "print(input())",  # called like the test's file
    }
    found = await judged(tmp_path, files, yaml="name: X\nlimits: {time_limit: 5}\n")
    assert found["accepted/good.py"].verdict is Verdict.ACCEPTED
    assert found["accepted/map.py"].verdict is None
    assert found["accepted/map.py"].reason == "two files are named 'map.py'"
