"""One process that serves: what `coderunner serve` does."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Iterator

import uvicorn

from coderunner.server import logs
from coderunner.server.app import create_app
from coderunner.server.service import Service
from coderunner.server.web_socket import BoundedWebSocket
from coderunner.server.wire import BoundedHttp
from coderunner.settings import Settings

_log = logging.getLogger(__name__)
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def serve(settings: Settings) -> None:
    """Until somebody ends it. Raises before anything listens if no engine is usable."""
    mine = settings.server
    logs.set_up(mine.log_level)
    async with Service.open(settings) as service:
        config = uvicorn.Config(
            create_app(service=service),
            host=mine.host,
            port=mine.port,
            http=BoundedHttp.of(mine.body_seconds),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=int(mine.drain_seconds),
            ws=BoundedWebSocket,
            ws_max_size=mine.socket_message_kb * 1024,
            ws_ping_interval=mine.ping_seconds,
            ws_ping_timeout=mine.ping_seconds,
            ws_per_message_deflate=False,  # what is short on the wire would be long here
        )
        await _Server(config).serve()


class _Server(uvicorn.Server):
    """One that a signal drains, and that is then at its end: uvicorn's own raises it again."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for server in self.servers:
            for listening in server.sockets:
                host, port = listening.getsockname()[:2]
                _log.info("serving", extra={"host": host, "port": port})

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)
