"""`POST /execute/{language}`: the simplest door. Code goes in, what it printed comes out."""

from __future__ import annotations

import uuid
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from coderunner import exit_codes
from coderunner.errors import CodeRunnerError, InvalidInput
from coderunner.language import Language
from coderunner.model import EndedBy, File, Outcome, Output, Program, Result
from coderunner.server.problems import ProblemDetails
from coderunner.server.reading import JsonRoute
from coderunner.server.service import ClientGone, Service, service_of, while_connected
from coderunner.server.workers import DIRECTORY
from coderunner.text import as_bytes
from coderunner.toolchain import Toolchain

_KB = 1024
_GONE = 499  # nobody reads it; what proxies write into their logs then


class ExecuteRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    code: str = Field(examples=["print('Hello, world!')"])


class Execution(BaseModel):
    stdout: str = Field(examples=["Hello, world!\n"])
    stderr: str = Field(examples=[""])
    exit_code: int = Field(examples=[0], description="124: out of time; 137: out of memory")
    execution_time_ms: float = Field(examples=[9.3])
    container_id: str = Field(description="the container, or the box, that it ran in")
    language: str = Field(examples=["python"])
    image_name: str = Field(examples=["python:3.11-slim"])
    memory_used_mb: float = Field(examples=[9.5])
    cpu_percent: float = Field(examples=[97.3])
    file_path: str = Field(examples=["/tmp/exec_550e8400-e29b-41d4-a716-446655440000.py"])


class Failure(BaseModel):
    """The service failed, not the code."""

    detail: str = Field(examples=["the machine is in trouble: No space left on device"])
    stdout: str = Field(default="", examples=[""])
    stderr: str = Field(default="", examples=[""])
    exit_code: int = Field(default=-1, examples=[-1])


router = APIRouter(route_class=JsonRoute, tags=["execute"])


@router.post(
    "/execute/{language}",
    summary="Execute code",
    response_model=Execution,
    responses={
        500: {"model": Failure, "description": "The service failed, not the code."},
        404: {"model": ProblemDetails, "description": "There is no such language."},
        413: {"model": ProblemDetails, "description": "The body is longer than 100 KB."},
        429: {"model": ProblemDetails, "description": "You ask too much at once."},
        503: {"model": ProblemDetails, "description": "The service is busy."},
    },
)
async def execute(
    language: str,
    body: ExecuteRequest,
    request: Request,
    service: Annotated[Service, Depends(service_of)],
) -> Response | Execution:
    """Run code, and wait for its end: at most 10 seconds, 256 MB, and 10 KB of each stream.

    Errors of the code are part of a good answer: look at `exit_code` and `stderr`."""
    found = service.runner.languages.get(language)
    try:
        return await while_connected(request, _run(service, request, found, body.code))
    except ClientGone:
        return Response(status_code=_GONE)
    except InvalidInput:
        raise
    except CodeRunnerError as error:
        detail = f"{error.message} ({error.hint})" if error.hint else error.message
        return JSONResponse(Failure(detail=detail).model_dump(), status_code=500)


async def _run(service: Service, request: Request, language: Language, code: str) -> Execution:
    name = f"exec_{uuid.uuid4()}{language.extensions[0]}"
    content = as_bytes(code, "code")
    result = await service.serve(
        request, language.name, lambda: _build_and_run(service, language, name, content)
    )
    service.metrics.note(language.name, result.outcome)
    toolchain = await service.runner.toolchains.find(language)
    return _answer(service, result, toolchain, f"/tmp/{name}")


async def _build_and_run(service: Service, language: Language, name: str, code: bytes) -> Result:
    """In /tmp, where the code also lies under a name that is this request's alone. It runs under
    the usual one: by that, compilations are found again, and interpreters are warm."""
    program = Program(language.name, (File(language.source, code),))
    async with service.runner.build(program) as build:
        if not build.ok:
            return Result(build.compilation, None)
        return await build.run(limits=service.limits, files=[File(name, code)], directory=DIRECTORY)


def _answer(service: Service, result: Result, toolchain: Toolchain, path: str) -> Execution:
    outcome, most = result.outcome, service.settings.server.output_kb
    usage = outcome.usage
    return Execution(
        stdout=_shown(outcome.stdout, most),
        stderr=_shown(outcome.stderr, most) + _why(outcome, service.limits.wall_ms),
        exit_code=exit_codes.of_result(result),
        execution_time_ms=round(usage.wall_ms, 3),
        container_id=outcome.container or uuid.uuid4().hex[:12],
        language=toolchain.language,
        image_name=toolchain.image_name
        or f"{outcome.engine}:{toolchain.language}-{toolchain.version}",
        memory_used_mb=round(usage.memory_peak_kb / _KB, 3),
        cpu_percent=round(100 * usage.cpu_ms / usage.wall_ms, 1) if usage.wall_ms else 0.0,
        file_path=path,
    )


def _shown(output: Output, most_kb: int) -> str:
    """The beginning. A character that the cut would go through is left out."""
    if len(output.data) <= most_kb * _KB and not output.dropped:
        return output.text
    head = output.head[: most_kb * _KB].decode(errors="ignore")
    return f"{head}\n[Output truncated at {most_kb}KB limit]"


def _why(outcome: Outcome, wall_ms: int) -> str:
    """What a reader would not see otherwise: that a limit has ended it."""
    said = _ENDINGS.get(outcome.ended_by)
    return f"\n[{said.format(seconds=wall_ms / 1000)}]" if said else ""


_ENDINGS = {
    EndedBy.WALL_TIME: "Execution timed out after {seconds:g} seconds",
    EndedBy.CPU_TIME: "Execution timed out: no cpu time left",
    EndedBy.MEMORY: "Execution ended: out of memory",
    EndedBy.PROCESSES: "Execution ended: too many processes",
    EndedBy.OUTPUT: "Execution ended: too much output",
}
