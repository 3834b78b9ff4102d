"""One job on one engine, from start to the facts of its end."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from typing import TypeVar

from coderunner.cancelling import in_thread
from coderunner.capture import Sink, communicate
from coderunner.engines.base import Engine, Process
from coderunner.errors import faults_of_the_machine
from coderunner.model import Job, Outcome

Stdin = bytes | AsyncIterable[bytes] | None
Started = Callable[[Process], None]
"""Is handed the process when there is one: to send it signals, or to resize its terminal."""
T = TypeVar("T")


async def execute(
    engine: Engine, job: Job, *, stdin: Stdin = None, sink: Sink | None = None
) -> Outcome:
    """Run a job and forget its files."""
    outcome, _ = await execute_and(engine, job, None, stdin=stdin, sink=sink)
    return outcome


async def execute_and(
    engine: Engine,
    job: Job,
    take: Callable[[int], T] | None,
    *,
    stdin: Stdin = None,
    sink: Sink | None = None,
    started: Started | None = None,
) -> tuple[Outcome, T | None]:
    """Run a job with `collect`, then let `take` look at what it left, in a thread: it gets a
    directory fd, and what a hostile program left in there may be much."""
    with faults_of_the_machine():
        process = await engine.start(job)
    try:
        if started is not None:
            started(process)
        ended, stdout, stderr = await communicate(
            process, stdin=stdin, limits=job.limits, sink=sink
        )
        taken = await _take(process, take)
    finally:
        await process.close()
    outcome = Outcome(
        ended_by=ended.ended_by,
        exit_code=ended.exit_code,
        signal=ended.signal,
        usage=ended.usage,
        stdout=stdout,
        stderr=stderr,
        isolation=process.isolation,
        engine=engine.name,
        warm=ended.warm,
        container=process.container,
    )
    return outcome, taken


async def _take(process: Process, take: Callable[[int], T] | None) -> T | None:
    if take is None:
        return None
    fd = process.workspace_fd()
    return await in_thread(lambda: take(fd))
