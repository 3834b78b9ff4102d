"""The application, put together.

RequestLog ─▶ CORS ─▶ Door ─▶ routes ─▶ Service
(its id)      (pages)  (who)             (turns, workers, the runner)
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from coderunner import __version__
from coderunner.server import execute, health, metrics, openapi, problems, v1
from coderunner.server.door import Door
from coderunner.server.logs import REQUEST_ID, RequestLog
from coderunner.server.service import Service
from coderunner.settings import Settings

_ABOUT = """Runs code that nobody trusts yet, each run in a sandbox of its own.

`POST /execute/{language}` is the simplest door, `/v1` has all the others. A program that fails is a
good answer. Whatever is not served is told as problem details (RFC 9457)."""


def create_app(settings: Settings | None = None, *, service: Service | None = None) -> FastAPI:
    """With a service that is open already, its owner closes it."""
    settings = service.settings if service else settings or Settings()
    mine = settings.server

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            app.state.service = service or await stack.enter_async_context(Service.open(settings))
            yield

    # Pages with the document in them load their scripts from elsewhere.
    app = FastAPI(
        title="CodeRunner",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        generate_unique_id_function=lambda route: route.name,
        redoc_url=None,
    )
    for routes in (execute.router, health.router, metrics.router, v1.router):
        app.include_router(routes)
    problems.install(app)
    openapi.describe(app, settings)
    # The last one is the outermost.
    app.add_middleware(Door, settings=mine)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=mine.cors_origins,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["Authorization", "Content-Type", REQUEST_ID],
        expose_headers=[REQUEST_ID, "Retry-After"],
    )
    app.add_middleware(RequestLog)
    return app
