"""JSON as we take it: strict, with no depth, size or number of mistakes that could hurt."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.responses import Response

from coderunner.server.problems import Problem, of_findings

Model = TypeVar("Model", bound=BaseModel)
_MOST_MISTAKES = 100
_MOST_VALUES = 50_000  # in one body: each costs time, whatever is wrong with it
_SHORT = 64 * 1024  # bytes, which cannot hold so many


class JsonRequest(Request):
    async def json(self) -> Any:
        return parsed(await self.body(), "the body")


def parsed(text: bytes | str, what: str) -> Any:
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise Problem(400, "not-json", f"{what} is not JSON: {error}") from None
    if len(text) > _SHORT:
        _check_amount(value, what)
    return value


def _check_amount(value: object, what: str) -> None:
    """One level after the other: it may be deep, and it may be wide."""
    level, count = [value], 0
    while level:
        count += len(level)
        if count > _MOST_VALUES:
            raise Problem(413, "too-large", f"{what} has more than {_MOST_VALUES} values")
        inner = (_parts(one) for one in level)
        level = list(itertools.islice(itertools.chain.from_iterable(inner), _MOST_VALUES + 1))


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


class JsonRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return strictly


def read_as(kind: type[Model], value: object, whole: str = "the body") -> Model:
    """One of ours. A body can have a million mistakes, and to tell each takes its time: so they are
    counted first."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        count = error.error_count()
        if count > _MOST_MISTAKES:
            raise Problem(422, "invalid-request", f"there are {count} mistakes in it") from None
        findings = error.errors(include_url=False, include_context=False, include_input=False)
        placed = ({**found, "loc": (whole, *found["loc"])} for found in findings)
        raise of_findings(placed, whole) from None
