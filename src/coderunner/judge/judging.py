"""A request's way through the judge: check it, compile, run the tests, conclude.

A bad request and a machine in trouble are results here, with a status that says that it was not
the code's fault.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager

from coderunner.build import Build
from coderunner.errors import (
    CodeRunnerError,
    InvalidInput,
    JudgeFailed,
    ToolchainMissing,
    UnknownLanguage,
)
from coderunner.judge.case import Judged
from coderunner.judge.compiler import CompilationResult, Compiler
from coderunner.judge.from_request import tree
from coderunner.judge.groups import Graded, grade
from coderunner.judge.judges import Judges, open_judges
from coderunner.judge.language import Language
from coderunner.judge.request import ExecutionRequest
from coderunner.judge.result import (
    ExecutionError,
    ExecutionResult,
    ExecutionStatus,
    GroupResult,
    View,
)
from coderunner.judge.sanitize import sanitize_code
from coderunner.judge.summary import CHECKER_ERROR, concluded
from coderunner.judge.test_runner import Bounds, TestRunner, Told, in_words
from coderunner.judge.validation import problem
from coderunner.model import File, Program
from coderunner.runner import Runner

_LONGEST_SUMMARY = 2000

_FAULTS: tuple[tuple[type[CodeRunnerError], str, str, str], ...] = (
    # error, its code, the stage it belongs to, how its summary begins
    (UnknownLanguage, "UNSUPPORTED_LANGUAGE", "validation", "Unsupported language"),
    (InvalidInput, "VALIDATION_ERROR", "validation", "Validation error"),
    (ToolchainMissing, "TOOLCHAIN_MISSING", "compilation", "Not installed here"),
    (JudgeFailed, CHECKER_ERROR, "validation", "Not judged"),
    (CodeRunnerError, "SANDBOX_ERROR", "execution", "Sandbox error"),
)


async def judge(
    runner: Runner,
    request: ExecutionRequest,
    *,
    supported: Collection[Language] | None = None,
    told: Told | None = None,
) -> ExecutionResult:
    """The grader's view. `supported` are the languages that may be used, if not all of them."""
    started = time.monotonic()
    try:
        return await judged(runner, request, supported=supported, told=told)
    except CodeRunnerError as error:
        return _timed(_not_judged(request, error), started)


async def judged(
    runner: Runner,
    request: ExecutionRequest,
    *,
    supported: Collection[Language] | None = None,
    told: Told | None = None,
) -> ExecutionResult:
    """The same for callers who have words of their own for what keeps it from being judged: that
    is raised. A checker that cannot be used is a result."""
    started = time.monotonic()
    try:
        result = await _judged(runner, request, supported, told)
    except JudgeFailed as error:
        result = _not_judged(request, error)
    return _timed(result, started)


def _timed(result: ExecutionResult, started: float) -> ExecutionResult:
    result.total_time_ms = math.ceil((time.monotonic() - started) * 1000)
    return result


async def _judged(
    runner: Runner,
    request: ExecutionRequest,
    supported: Collection[Language] | None,
    told: Told | None,
) -> ExecutionResult:
    if found := problem(request):
        raise InvalidInput(found)
    program = _program(runner, request, supported)
    async with Compiler(runner).compile(program) as (build, compilation):
        if not compilation.success:
            return _not_compiled(request, compilation)
        async with _judges(runner, request) as judges:
            return await _tested(request, build, compilation, judges, told)


def _program(
    runner: Runner, request: ExecutionRequest, supported: Collection[Language] | None
) -> Program:
    name = request.language_name
    if name not in runner.languages or (
        supported is not None and request.language not in supported
    ):
        raise UnknownLanguage(
            f"Language {name} is not supported", hint=f"there are {_known(runner, supported)}"
        )
    language = runner.languages.get(name)
    code = sanitize_code(request.code, request.language)
    return Program(language.name, (File(language.source, code.encode("utf-8", "surrogateescape")),))


def _known(runner: Runner, supported: Collection[Language] | None) -> str:
    names = [language.name for language in runner.languages]
    return ", ".join(names if supported is None else sorted(one.value for one in supported))


def _judges(runner: Runner, request: ExecutionRequest) -> AbstractAsyncContextManager[Judges]:
    written = request.interactor
    interactor = None if written is None else written.as_program(runner.languages)
    return open_judges(runner, request.checker, interactor)


async def _tested(
    request: ExecutionRequest,
    build: Build,
    compilation: CompilationResult,
    judges: Judges,
    told: Told | None,
) -> ExecutionResult:
    group = tree(request.test_cases, request.groups, stop=request.stop_on_failure)
    judged = await TestRunner(build.runner).run_tests(
        build,
        request.test_cases,
        _bounds(request),
        judges,
        parallel=request.parallel,
        group=group,
        told=told,
    )
    pairs = zip(request.test_cases, judged, strict=True)
    graded = grade(group, judged) if request.groups else None
    result = ExecutionResult(
        request_id=request.request_id,
        status=ExecutionStatus.ALL_FAILED,
        test_results=[in_words(test, one) for test, one in pairs],
        total_time_ms=0,
        compilation_output=compilation.output or None,
        summary="",
        error_info=None,
        compilation_time_ms=compilation.time_ms,
        score=graded.score if graded else None,
        max_score=graded.most if graded else None,
        groups=_group_results(graded),
        isolation=_isolation(judged),
        view=View.GRADER,
    )
    return concluded(result)


def _bounds(request: ExecutionRequest) -> Bounds:
    return Bounds(
        timeout_ms=request.timeout_ms,
        total_timeout_ms=request.total_timeout_ms,
        memory_limit_mb=request.memory_limit_mb,
        cpu_limit=request.cpu_limit,
        output_limit_kb=request.output_limit_kb,
        keep_output_kb=request.keep_output_kb,
    )


def _group_results(graded: Graded | None) -> list[GroupResult]:
    groups = graded.groups if graded else ()
    return [GroupResult(group.id, group.verdict, group.score, group.most) for group in groups]


def _isolation(judged: list[Judged]) -> str | None:
    return next((one.outcome.isolation.value for one in judged if one.outcome), None)


def _not_compiled(request: ExecutionRequest, compilation: CompilationResult) -> ExecutionResult:
    error = compilation.error or "Compilation failed"
    result = _without_tests(
        request,
        ExecutionStatus.COMPILATION_ERROR,
        f"Compilation failed: {error}",
        ExecutionError("COMPILATION_ERROR", error, "compilation", compilation.output or None),
    )
    result.compilation_output = compilation.output or error
    result.compilation_time_ms = compilation.time_ms
    return result


def _not_judged(request: ExecutionRequest, error: CodeRunnerError) -> ExecutionResult:
    code, stage, words = next(rest for kind, *rest in _FAULTS if isinstance(error, kind))
    return _without_tests(
        request,
        ExecutionStatus.SANDBOX_ERROR,
        f"{words}: {error.message}",
        ExecutionError(code, error.message, stage, error.hint or None),
    )


def _without_tests(
    request: ExecutionRequest, status: ExecutionStatus, summary: str, error: ExecutionError
) -> ExecutionResult:
    return ExecutionResult(
        request_id=request.request_id,
        status=status,
        test_results=[],
        total_time_ms=0,
        compilation_output=None,
        summary=summary[:_LONGEST_SUMMARY],
        error_info=error,
        view=View.GRADER,
    )
