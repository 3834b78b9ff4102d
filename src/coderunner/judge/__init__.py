"""The judge: runs code against test cases and says whether it is right.

from coderunner.judge import CodeRunner, ExecutionRequest, Language, TestCase

request.py result.py         what is asked, what is answered
validation.py sanitize.py    before anything runs
code_runner.py judging.py    the front door; a request's way through
container_runner.py on_docker.py             one command in a container; who runs those
compiler.py test_runner.py   the two steps, in this door's words
case.py from_request.py      one test; a request's tests as such, and its groups
judges.py trial.py interaction.py schedule.py  who judges; a run; a conversation; many tests
verdict.py groups.py summary.py                meaning: of a run, of a group, of the whole
checkers/ difference.py      who says what is right; where it went wrong
language.py tables.py        the registry's languages, by the names requests use
artifacts.py as_json.py      other shapes of the same
problem/                     problem packages
"""

from __future__ import annotations

from coderunner.errors import JudgeFailed
from coderunner.judge.artifacts import (
    Artifact,
    ArtifactStore,
    DirectoryStore,
    artifact_to_execution_request,
    execution_result_to_artifact,
)
from coderunner.judge.checkers.custom import CheckerProgram, Interactor
from coderunner.judge.checkers.opened import Checker
from coderunner.judge.checkers.program import Convention
from coderunner.judge.checkers.regex import Regex
from coderunner.judge.checkers.text import Exact, IgnoreCase, Normalized, UnorderedLines
from coderunner.judge.checkers.tokens import Tokens
from coderunner.judge.code_runner import CodeRunner
from coderunner.judge.compiler import CompilationResult, Compiler
from coderunner.judge.container_runner import ContainerResult, ContainerRunner
from coderunner.judge.groups import Scoring
from coderunner.judge.language import Language
from coderunner.judge.request import ExecutionRequest, TestCase, TestGroup
from coderunner.judge.result import (
    ExecutionError,
    ExecutionResult,
    ExecutionStatus,
    GroupResult,
    TestResult,
    TestStatus,
    View,
)
from coderunner.judge.sanitize import sanitize_code
from coderunner.judge.tables import (
    COMPILATION_COMMANDS,
    COMPILED_LANGUAGES,
    DEFAULT_IMAGES,
    EXECUTION_COMMANDS,
    LANGUAGE_EXTENSIONS,
    get_execution_command,
)
from coderunner.judge.test_runner import TestRunner
from coderunner.judge.verdict import Verdict

__all__ = [
    "COMPILATION_COMMANDS",
    "COMPILED_LANGUAGES",
    "DEFAULT_IMAGES",
    "EXECUTION_COMMANDS",
    "LANGUAGE_EXTENSIONS",
    "Artifact",
    "ArtifactStore",
    "Checker",
    "CheckerProgram",
    "CodeRunner",
    "CompilationResult",
    "Compiler",
    "ContainerResult",
    "ContainerRunner",
    "Convention",
    "DirectoryStore",
    "Exact",
    "ExecutionError",
    "ExecutionRequest",
    "ExecutionResult",
    "ExecutionStatus",
    "GroupResult",
    "IgnoreCase",
    "Interactor",
    "JudgeFailed",
    "Language",
    "Normalized",
    "Regex",
    "Scoring",
    "TestCase",
    "TestGroup",
    "TestResult",
    "TestRunner",
    "TestStatus",
    "Tokens",
    "UnorderedLines",
    "Verdict",
    "View",
    "artifact_to_execution_request",
    "execution_result_to_artifact",
    "get_execution_command",
    "sanitize_code",
]
