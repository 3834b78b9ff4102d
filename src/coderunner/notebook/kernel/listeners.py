"""The sockets that Jupyter clients connect to, one for each of a kernel's channels."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coderunner.errors import EngineUnavailable, faults_of_the_machine
from coderunner.notebook.inside.relay import CHANNELS, MOST_PAYLOAD
from coderunner.notebook.kernel.multiplexer import Multiplexer

_LONGEST_PATH = 107  # of a unix socket


class Listeners:
    """Where a connection file says: unix sockets, or TCP on this machine's loopback."""

    def __init__(self, multiplexer: Multiplexer) -> None:
        self._multiplexer = multiplexer
        self._servers: list[asyncio.Server] = []
        self._paths: list[Path] = []

    async def open(self, connection: Mapping[str, Any]) -> None:
        with faults_of_the_machine():
            for name in CHANNELS:
                serve = functools.partial(_serve, self._multiplexer, name)
                port = connection[f"{name}_port"]
                if connection["transport"] == "ipc":
                    await self._listen_at(Path(f"{connection['ip']}-{port}"), serve)
                else:
                    self._servers.append(
                        await asyncio.start_server(
                            serve, connection["ip"], port, limit=MOST_PAYLOAD
                        )
                    )

    def close(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()
        for path in self._paths:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
        self._paths.clear()

    async def _listen_at(self, path: Path, serve: Any) -> None:
        if len(os.fsencode(path)) > _LONGEST_PATH:
            raise EngineUnavailable(
                f"{path} is too long for a socket", hint="set TMPDIR to a shorter directory"
            )
        self._servers.append(await asyncio.start_unix_server(serve, path, limit=MOST_PAYLOAD))
        self._paths.append(path)


async def _serve(
    multiplexer: Multiplexer,
    channel: str,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    multiplexer.serve(channel, reader, writer)
