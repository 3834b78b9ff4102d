"""The sessions that there are: whose they are, how many, and when they end."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from coderunner.cancelling import in_thread, outlast
from coderunner.model import Limits
from coderunner.notebook import Session
from coderunner.server.problems import Problem, too_busy
from coderunner.server.sessions.open_session import OpenSession, Turn
from coderunner.settings import Settings

_ID_BYTES = 16
_NEW = "POST /v1/sessions makes one"
_REMEMBERED = 1000  # sessions that are over
_SOON_S = 5.0  # when to ask again for one


@dataclass(frozen=True, slots=True)
class Wanted:
    language: str
    kernel: str
    limits: Limits
    idle_seconds: float


class Sessions:
    """Each belongs to the client that has made it. To everybody else it does not exist."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: dict[str, OpenSession] = {}
        self._over: OrderedDict[str, tuple[str, str]] = OrderedDict()  # by id: whose, and why
        self._starting: list[str] = []  # clients
        self._ending: dict[asyncio.Task[None], str] = {}  # and whose they were
        self._tiring: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Those that take room: also what has not quite started, or not quite ended."""
        return len(self._open) + len(self._starting) + len(self._ending)

    def of(self, client: str) -> list[OpenSession]:
        return [session for session in self._open.values() if session.client == client]

    def get(self, name: str, client: str) -> OpenSession:
        session = self._open.get(name)
        if session is not None and session.client == client:
            return session
        whose, why = self._over.get(name, ("", ""))
        if whose == client:
            raise Problem(410, "session-ended", f"this session is over: {why}", hint=_NEW)
        raise Problem(404, "no-session", "you have no session of this id", hint=_NEW)

    async def open(self, client: str, wanted: Wanted, turn: Turn) -> OpenSession:
        """A session whose interpreter has started, when it was its turn."""
        limits = wanted.limits
        with self._room_for(client):
            session = Session(
                wanted.kernel,
                timeout=limits.wall_ms / 1000,
                max_memory_mb=limits.memory_mb,
                max_output_bytes=limits.output_bytes,
                limits=limits,
                idle_seconds=None,  # that is for us to see: it has a place here, too
                settings=self._settings,
            )
            try:
                async with turn():
                    await session.restart_async()
                    isolation = await in_thread(lambda: session.isolation)
            except BaseException:
                await outlast(asyncio.ensure_future(session.close_async()))
                raise
            opened = OpenSession(
                id=secrets.token_urlsafe(_ID_BYTES),
                client=client,
                language=wanted.language,
                isolation=isolation,
                limits=limits,
                idle_seconds=wanted.idle_seconds,
                session=session,
                on_idle=self._tire,
            )
            self._open[opened.id] = opened
        return opened

    async def end(self, session: OpenSession, why: str) -> None:
        """It is over at once for everybody; we wait until nothing is left of it."""
        if self._open.pop(session.id, None) is None:
            return
        self._over[session.id] = (session.client, why)
        if len(self._over) > _REMEMBERED:
            self._over.popitem(last=False)
        ending = asyncio.create_task(session.close())
        self._ending[ending] = session.client
        ending.add_done_callback(self._ending.pop)
        await outlast(ending)

    async def close(self) -> None:
        ending = [self.end(session, "the service has ended") for session in self._open.values()]
        await asyncio.gather(*ending)
        await outlast(*self._ending, *self._tiring)

    def _tire(self, session: OpenSession) -> None:
        why = f"nobody has used it for {session.idle_seconds:g} seconds"
        tiring = asyncio.create_task(self.end(session, why))
        self._tiring.add(tiring)
        tiring.add_done_callback(self._tiring.discard)

    @contextlib.contextmanager
    def _room_for(self, client: str) -> Iterator[None]:
        """A place for one that starts. Raises a Problem if there is none."""
        mine = self._settings.server
        of_client = [*self._starting, *self._ending.values()].count(client) + len(self.of(client))
        if of_client >= mine.client_sessions:
            said = f"you have {of_client} sessions already: end one of them"
            raise too_busy(429, "too-many-sessions", said, _SOON_S)
        if len(self) >= mine.sessions:
            raise too_busy(503, "busy", f"there are {len(self)} sessions already", _SOON_S)
        self._starting.append(client)
        try:
            yield
        finally:
            self._starting.remove(client)
