"""The first that a request meets: who is not to be served is told so here."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from coderunner.server.admission import Admission, check_body
from coderunner.server.body import bounded
from coderunner.server.problems import Problem
from coderunner.server.rates import Rates
from coderunner.settings.server import ServerSettings

CLIENT = "coderunner.client"  # where a scope has the client's name
_KB = 1024
_SIMPLE = "/execute/"


class Door:
    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings
        self._admission = Admission.of(settings)
        self._rates = Rates(settings.client_rate, settings.client_burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            client = self._admission.admit(scope)
            self._rates.check(client)
            if scope["type"] == "http":
                most = self._longest(scope["path"])
                check_body(scope, most)
                receive = bounded(receive, most, self._settings.body_seconds)
        except Problem as problem:
            await problem.response()(scope, receive, send)
            return
        scope[CLIENT] = client
        await self._app(scope, receive, send)

    def _longest(self, path: str) -> int:
        settings = self._settings
        kb = settings.request_body_kb if path.startswith(_SIMPLE) else settings.v1_body_kb
        return kb * _KB
