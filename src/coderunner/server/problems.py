"""What went wrong with a request, as RFC 9457 has it: `application/problem+json`."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException as Refused
from starlette.responses import Response

from coderunner.errors import CodeRunnerError
from coderunner.problem_kinds import PREFIX, status_and_kind

_log = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"
_MOST_FINDINGS = 10
_LONGEST = 2000


class Mistake(BaseModel):
    where: str = Field(examples=["limits.wall_ms"], description="the field")
    what: str = Field(examples=["Input should be greater than 0"])


class ProblemDetails(BaseModel):
    """What went wrong, why, and what to do next."""

    type: str = Field(
        examples=["urn:coderunner:unknown-language"], description="for programs to tell them apart"
    )
    title: str = Field(examples=["Unknown language"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["no language is called 'cobol'"])
    hint: str = Field(default="", examples=["did you mean python?"])
    errors: list[Mistake] = Field(default=[], description="what is wrong with the request, if that")


class Problem(HTTPException):
    """A request that is not served. `kind` is a slug that programs can tell apart."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        hint: str = "",
        headers: Mapping[str, str] = {},
        **more: Any,
    ) -> None:
        super().__init__(status, detail[:_LONGEST], headers)
        self.kind = kind
        self.hint = hint
        self.more = more

    def response(self) -> Response:
        return Response(
            json.dumps(self.members()).encode(),
            status_code=self.status_code,
            headers=dict(self.headers or {}),
            media_type=MEDIA_TYPE,
        )

    def members(self) -> dict[str, Any]:
        return {
            "type": PREFIX + self.kind,
            "title": self.kind.replace("-", " ").capitalize(),
            "status": self.status_code,
            "detail": self.detail,
            **({"hint": self.hint} if self.hint else {}),
            **self.more,
        }


def too_busy(status: int, kind: str, detail: str, retry_s: float) -> Problem:
    return Problem(status, kind, detail, headers={"Retry-After": str(max(1, math.ceil(retry_s)))})


def of_error(error: CodeRunnerError) -> Problem:
    """One of the library's errors, in HTTP's terms."""
    status, kind = status_and_kind(error)
    return Problem(status, kind, error.message, hint=error.hint)


def problem_of(error: BaseException) -> Problem:
    """Any error, told to somebody whose answer has begun already."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, CodeRunnerError):
        return of_error(error)
    _log.error("failed", exc_info=error)
    return Problem(500, "failed", "the service has failed; its log says more")


def install(app: FastAPI) -> None:
    """Every error of every route as a problem."""

    @app.exception_handler(Problem)
    async def problem(request: Request, error: Problem) -> Response:
        return error.response()

    @app.exception_handler(CodeRunnerError)
    async def ours(request: Request, error: CodeRunnerError) -> Response:
        return of_error(error).response()

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return of_findings(error.errors()).response()

    @app.exception_handler(Refused)
    async def plain(request: Request, error: Refused) -> Response:
        kind = _KINDS.get(error.status_code, "refused")
        detail = f"{request.method} {request.url.path}: {error.detail}"
        return Problem(
            error.status_code, kind, detail, headers=dict(error.headers or {})
        ).response()


_KINDS = {404: "not-found", 405: "method-not-allowed"}


def of_findings(findings: Iterable[Any], whole: str = "the body") -> Problem:
    """Says where and what, and not what was sent: that may be long, or not be JSON."""
    words = [
        {
            "where": ".".join(map(str, one["loc"][1:])) or whole,
            "what": one["msg"].removeprefix("Value error, "),
        }
        for one in list(findings)[:_MOST_FINDINGS]
    ]
    detail = "; ".join(f"{one['where']}: {one['what']}" for one in words)
    return Problem(422, "invalid-request", detail, errors=words)
