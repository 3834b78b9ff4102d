"""What the service says of itself: one JSON object a line, with the id of the request it is about.

What users sent is only ever logged at `debug`.
"""

from __future__ import annotations

import contextvars
import datetime
import json
import logging
import re
import secrets
import sys
import time
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coderunner.server.door import CLIENT

REQUEST_ID = "X-Request-ID"
_request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="")
_GIVEN = re.compile(r"[\w.-]{1,64}", re.ASCII)
_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_log = logging.getLogger(__name__)


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        when = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        said: dict[str, Any] = {
            "time": when.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := _request_id.get():
            said["request_id"] = request_id
        said |= {name: value for name, value in vars(record).items() if name not in _USUAL}
        if record.exc_info:
            said["traceback"] = self.formatException(record.exc_info)
        return json.dumps(said, default=str)


def set_up(level: str) -> None:
    """For a process that is the service, as `coderunner serve` is."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


class RequestLog:
    """Gives each request its id, and writes a line when it has been answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = given if _GIVEN.fullmatch(given) else secrets.token_hex(8)
        token = _request_id.set(request_id)
        began, status = time.monotonic(), 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] in _STARTS:
                status = message.get("status", 101)
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._note(scope, status, time.monotonic() - began)
            _request_id.reset(token)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "")
        scope["app"].state.service.metrics.note_request(route, status, seconds)
        if not _log.isEnabledFor(logging.INFO):
            return
        facts = {
            "method": scope.get("method", "WEBSOCKET"),
            "path": scope["path"],
            "status": status,
            "ms": round(seconds * 1000, 1),
            "client": scope.get(CLIENT, ""),
        }
        _log.info("answered", extra=facts)


_STARTS = ("http.response.start", "websocket.accept", "websocket.http.response.start")
