"""What tests use to say that they need something this machine may not have.

Outside CI such a test is skipped, and the end of the run lists it with the command that would bring
it in. With CI=true nothing is ever skipped: `conftest.py` turns every skip into a failure.
"""

from __future__ import annotations

import asyncio
import functools
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest

from coderunner.errors import CodeRunnerError, EngineUnavailable, ToolchainMissing
from coderunner.language import Languages
from coderunner.toolchain import Toolchains

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}
IS_ROOT = os.geteuid() == 0
_OF_CONTAINERS = ("overlay", "nsfs")


def leave_out(reason: str, *, fix: str) -> NoReturn:
    """Skip this test: `reason` says what is missing, `fix` which command brings it in."""
    pytest.skip(f"{reason} (fix: {fix})")


def require_toolchain(language: str) -> None:
    """This test needs the compiler or interpreter of a language (a name or an alias)."""
    if error := _missing_toolchain(language):
        leave_out(error.message, fix=error.hint)


def require_sandbox() -> None:
    """This test needs a sandbox that works: the default engine at the default isolation."""
    if error := _missing_sandbox():
        leave_out(error.message, fix=error.hint)


def mounts() -> list[str]:
    """What is mounted on this machine. A Docker engine may be at work here: what it mounts for its
    containers comes and goes, and is nobody's trace; nor is what other tests mount."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not _of_others(line)]


def _of_others(mount: str) -> bool:
    place, _, kind = mount.partition(" - ")
    return kind.split()[0] in _OF_CONTAINERS or "/pytest-of-" in place


@functools.cache
def _missing_toolchain(language: str) -> CodeRunnerError | None:
    # In a thread of its own: the test that asks may run in an event loop already.
    with ThreadPoolExecutor(1) as thread:
        find = Toolchains().find(Languages().get(language))
        error = thread.submit(asyncio.run, find).exception()
    if error is None or isinstance(error, ToolchainMissing):
        return error
    raise error


@functools.cache
def _missing_sandbox() -> CodeRunnerError | None:
    from coderunner import run

    try:
        run(":", language="bash")
    except EngineUnavailable as error:
        return error
    return None
