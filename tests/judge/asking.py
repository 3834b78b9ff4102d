"""Short ways to ask the judge."""

from __future__ import annotations

from typing import Any

from coderunner.judge import CodeRunner, ExecutionRequest, ExecutionResult, Language, TestCase, View

Pair = tuple[str, str]  # input and expected output


def request(
    code: str, *tests: TestCase | Pair, language: Language | str = Language.PYTHON, **fields: Any
) -> ExecutionRequest:
    """A request with tests t1, t2, …; without any, one test that expects nothing."""
    cases = [
        test if isinstance(test, TestCase) else TestCase(f"t{number}", *test)
        for number, test in enumerate(tests or [("", "")], start=1)
    ]
    given: dict[str, Any] = {"timeout_ms": 5_000, "total_timeout_ms": 30_000, **fields}
    return ExecutionRequest("ask", code, language, cases, **given)


async def ask(
    code: str, *tests: TestCase | Pair, view: View = View.GRADER, **fields: Any
) -> ExecutionResult:
    return await CodeRunner().execute(request(code, *tests, **fields), view=view)
