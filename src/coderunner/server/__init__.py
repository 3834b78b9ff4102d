"""The HTTP service.

app.py        the application, put together
serving.py    one process that serves it
wire.py       HTTP as it comes in
service.py    what all requests share
settings.py   how it behaves

door.py       who is served: admission.py, rates.py, body.py
slots.py      who comes next
workers.py    what is kept ready
surveyed.py   what can be run
reading.py    JSON in
problems.py   errors out
ceiling.py    the most that may be asked for
openapi.py    all of it, for machines to read; judge_words.py what is said there of the judge
logs.py       what it says of itself
metrics.py    and to Prometheus

execute.py    POST /execute/{language}
health.py     GET /health
v1/           all that the library can
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

    from coderunner.settings import Settings


def create_app(settings: Settings | None = None) -> FastAPI:
    """An ASGI application; without settings, with those of the environment."""
    from coderunner.server.app import create_app as create

    return create(settings)


def __getattr__(name: str) -> Any:
    """`uvicorn coderunner.server:app`: made when somebody asks for it, and not before."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()["app"] = made = create_app()
    return made
