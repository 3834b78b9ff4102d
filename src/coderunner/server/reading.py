"""JSON as we take it: strict, with no depth or size that could hurt."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.responses import Response

from coderunner.server.problems import Problem


class JsonRequest(Request):
    async def json(self) -> Any:
        return parsed(await self.body(), "the body")


class JsonRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return strictly


def parsed(text: str | bytes, what: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise Problem(400, "not-json", f"{what} is not JSON: {error}") from None
