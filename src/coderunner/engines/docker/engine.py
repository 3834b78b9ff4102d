"""The Docker engine: jobs in containers, hardened.

    create ─▶ attach ─▶ start ─▶ order, files, stdin ─▶ the warden's report ─▶ remove, or wipe
                                 └─ all through the container's own streams ┘      and use again

The first process of each container is our warden (`warden/warden.c`). It keeps the clock, ends the
whole tree, and reads the container's cgroup, the meter of truth. The streams are attached before
anything runs, so that nothing is lost, and the daemon keeps no log.

A container is fresh (made for one job), ready (the same, but started ahead), or warm: it has had
jobs before, one at a time, and its warden has removed all that they have left.
"""

from __future__ import annotations

import asyncio
import contextlib
import platform
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coderunner.cancelling import in_thread, outlast
from coderunner.engines.base import Capabilities, Engine, Process, ToolchainSource
from coderunner.engines.docker import controls, hardening, images, leftovers
from coderunner.engines.docker.container import Container
from coderunner.engines.docker.daemon import Daemon, refuse_podman
from coderunner.engines.docker.images import Image
from coderunner.engines.docker.launching import Kind, Launcher
from coderunner.engines.docker.order import TOKEN_SIZE, Files, order
from coderunner.engines.docker.pool import Pool
from coderunner.engines.docker.profile import ARCHITECTURES
from coderunner.engines.docker.returned import Returned
from coderunner.engines.docker.running import Running
from coderunner.engines.docker.shown import Shown
from coderunner.engines.docker.spares import Spares
from coderunner.engines.docker.tools import ImageToolchains
from coderunner.errors import EngineUnavailable, faults_of_the_machine
from coderunner.language import Language
from coderunner.model import MIB, Isolation, Job, Limits
from coderunner.notices import Notice, ignore
from coderunner.settings import DockerSettings

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # as Docker has it
_HOME = {"HOME": "/workspace", "TMPDIR": "/tmp"}
_MOST_REMOVING = 16  # at once, in the background
_SPARE_S = 120  # that a container may be there beside its time limit
_NAME_BYTES = 4200  # of each file that comes back, beside its content


@dataclass(frozen=True, slots=True)
class _Ready:
    """A daemon that has been looked at."""

    daemon: Daemon
    capabilities: Capabilities
    launcher: Launcher
    spares: Spares
    pool: Pool
    shown: Shown


class DockerEngine(Engine):
    name = "docker"

    def __init__(self, settings: DockerSettings | None = None, *, client: Any = None) -> None:
        """`client` is a docker client of the caller's, who also closes it."""
        self.settings = settings or DockerSettings()
        self._client = client
        self._notice: Notice = ignore
        self._ready: _Ready | None = None
        self._swept: list[str] = []
        self._opening = asyncio.Lock()
        self._warming = asyncio.Lock()
        self._running: set[Running] = set()
        self._starting: set[asyncio.Future[None]] = set()  # or being warmed up
        self._removing: set[asyncio.Task[None]] = set()

    def announce(self, notice: Notice) -> None:
        self._notice = notice

    def toolchains(self, overrides: Mapping[str, str]) -> ToolchainSource:
        return ImageToolchains(self, overrides)

    async def capabilities(self) -> Capabilities:
        return (await self._open()).capabilities

    async def clean(self) -> list[str]:
        await self._open()  # which does it
        return self._swept

    async def sees(self, source: Path, image: str) -> bool:
        return await (await self._open()).shown.sees(source, image)

    async def image_of(self, language: Language) -> Image:
        ready = await self._open()
        return await ready.launcher.image(images.image_of(language, self.settings))

    async def start(self, job: Job) -> Process:
        self.check_terminal(job)
        ready = await self._open()
        if job.limits.cpus is not None:
            controls.check_throttle(ready.capabilities)
        with self._waited_for():
            try:
                return await self._start(ready, job)
            except EngineUnavailable as error:
                if not ready.launcher.forgets(error):
                    raise
            return await self._start(ready, job)  # there may be another image by now, or elsewhere

    @contextlib.contextmanager
    def _waited_for(self) -> Iterator[None]:
        """Who closes the engine meanwhile waits: what is made then has to be removed, too."""
        done = asyncio.get_running_loop().create_future()
        self._starting.add(done)
        try:
            yield
        finally:
            self._starting.discard(done)
            done.set_result(None)

    async def _start(self, ready: _Ready, job: Job) -> Process:
        image, files = await self._needed(ready, job)
        token = secrets.token_bytes(TOKEN_SIZE)
        env = {"PATH": _PATH, **image.env, **_HOME, **job.env}
        stays = ready.pool.keeps
        said = order(job, env, token, files, stay=stays)
        kind = Kind.of(job, image, files, self.settings.runtime)
        container, warm = await self._container(ready, kind, job.limits, said, token)
        running = Running(
            ready.daemon,
            container,
            job,
            ready.capabilities.isolation,
            Returned(_most_returned(job, files)),
            self._let_go,
            stays=stays,
            warm=warm,
        )
        self._running.add(running)
        return running

    async def warm_up(self, job: Job) -> bool:
        ready, kind = await self._kind_of(job)
        with self._waited_for():
            return await self._warm_up(ready, kind)

    async def _warm_up(self, ready: _Ready, kind: Kind) -> bool:
        async with self._warming:  # or two at once would start two
            if not await self._is_alive(ready, kind):
                if ready.pool.keeps:
                    await ready.pool.add(await self._launch(ready, kind))
                else:
                    ready.spares.make(kind.key, lambda: self._launch(ready, kind))
            return await self._is_alive(ready, kind)

    async def is_warm(self, job: Job) -> bool:
        return await self._is_alive(*await self._kind_of(job))

    async def cool_down(self, job: Job) -> None:
        ready, kind = await self._kind_of(job)
        await ready.pool.cool(kind.key)
        await ready.spares.cool(kind.key)
        await outlast(*self._removing)

    async def let_go_of_idle(self, seconds: float) -> None:
        if self._ready is not None:
            await self._ready.pool.cool_idle(seconds)

    async def aclose(self) -> None:
        await outlast(*self._starting)
        closing = [asyncio.create_task(running.close()) for running in self._running]
        await outlast(*closing)
        ready, self._ready = self._ready, None
        if ready is None:
            return
        await ready.spares.close()
        await ready.pool.close()
        await outlast(*self._removing)
        await ready.shown.close()
        await ready.daemon.remove()  # what was left while nobody answered
        try:
            await ready.launcher.close()
        finally:
            ready.daemon.close()

    async def _open(self) -> _Ready:
        async with self._opening:
            if self._ready is None:
                self._ready = await self._connect()
            return self._ready

    async def _connect(self) -> _Ready:
        host, client = self.settings.host, self._client
        daemon = await in_thread(lambda: Daemon.connect(host, client))
        try:
            refuse_podman(await daemon.ask("its version", lambda api: api.version()))
            facts = await daemon.ask("its facts", lambda api: api.info())
            machine = _machine(facts)
            capabilities = controls.capabilities(facts, self.settings.runtime)
            self._swept += await daemon.ask("removing what others have left", leftovers.sweep)
        except BaseException:
            await in_thread(daemon.close)
            raise

        async def remove(container: Container) -> None:
            await self._remove(daemon, container)

        # A kernel of its own may let a program change its warden, where our filter is not asked.
        keep = 0 if capabilities.isolation is Isolation.VM else self.settings.warm
        shown = Shown(daemon)
        users = hardening.uids(facts)
        return _Ready(
            daemon,
            capabilities,
            Launcher(daemon, machine, users, shown, self.settings, lambda text: self._notice(text)),
            Spares(self.settings.ready, remove),
            Pool(keep, remove),
            shown,
        )

    async def _needed(self, ready: _Ready, job: Job) -> tuple[Image, Files]:
        name = job.image or self.settings.image or images.FALLBACK
        image = await ready.launcher.image(name)
        with faults_of_the_machine():
            return image, await in_thread(lambda: Files(job.workspace))

    async def _kind_of(self, job: Job) -> tuple[_Ready, Kind]:
        ready = await self._open()
        image, files = await self._needed(ready, job)
        return ready, Kind.of(job, image, files, self.settings.runtime)

    async def _container(
        self, ready: _Ready, kind: Kind, limits: Limits, said: bytes, token: bytes
    ) -> tuple[Container, bool]:
        """One that has this order in hand, and whether it had started before."""
        for take in (ready.pool.take, ready.spares.take):
            while kept := await take(kind.key):
                if await self._hears(ready, kept, said, token):
                    self._keep_one_ready(ready, kind)
                    return kept, True
        started = await self._launch(ready, kind, limits.wall_ms / 1000 + _SPARE_S)
        ready.pool.lend(started)
        started.order(said, token)
        self._keep_one_ready(ready, kind)
        return started, False

    def _keep_one_ready(self, ready: _Ready, kind: Kind) -> None:
        ready.spares.make(kind.key, lambda: self._launch(ready, kind))

    async def _launch(self, ready: _Ready, kind: Kind, seconds: float | None = None) -> Container:
        keep = ready.pool.keeps
        return await ready.launcher.launch(kind, seconds=None if keep else seconds, keep=keep)

    async def _hears(self, ready: _Ready, kept: Container, said: bytes, token: bytes) -> bool:
        """Whether it has taken the order. If not, it is removed, and has started nothing."""
        heard = False
        try:
            kept.order(said, token)
            heard = await kept.heard()
        finally:
            if heard:
                ready.pool.lend(kept)
            else:
                ready.pool.give_up(kept)
                await self._remove(ready.daemon, kept)
        return heard

    async def _is_alive(self, ready: _Ready, kind: Kind) -> bool:
        """Whether one of this kind could take a job, or has one. The daemon knows."""
        for one in [*ready.pool.of(kind.key), *await ready.spares.made(kind.key)]:
            if one.usable and await ready.daemon.runs(one.id):
                return True
        return False

    async def _let_go(self, running: Running, container: Container, is_fine: bool) -> None:
        """Nothing runs in it any more."""
        self._running.discard(running)
        if self._ready is None:
            await container.close()
        elif is_fine:
            self._ready.pool.give_back(container)
        else:
            self._ready.pool.give_up(container)
            await self._remove(self._ready.daemon, container)

    async def _remove(self, daemon: Daemon, container: Container) -> None:
        """Who keeps containers is in a hurry, so there it is removed while others go on."""
        removing = asyncio.create_task(_close_and_remove(daemon, container))
        self._removing.add(removing)
        removing.add_done_callback(self._removing.discard)
        keeps = self.settings.ready or self.settings.warm
        if not keeps or len(self._removing) > _MOST_REMOVING:
            await outlast(removing)


async def _close_and_remove(daemon: Daemon, container: Container) -> None:
    await container.close()
    await daemon.remove(container.id)


def _machine(facts: Mapping[str, Any]) -> str:
    """The daemon's, which has to be ours as well: the warden was compiled here."""
    machine = str(facts.get("Architecture", ""))
    if facts.get("OSType") != "linux" or machine not in ARCHITECTURES:
        raise EngineUnavailable(
            f"this Docker runs on {facts.get('OSType')}/{machine}, and its containers with it",
            hint=f"use a daemon on Linux ({' or '.join(ARCHITECTURES)})",
        )
    if machine != platform.machine():
        raise EngineUnavailable(
            f"this Docker runs on {machine}, this Python on {platform.machine()}",
            hint="use a daemon on a machine of the same architecture",
        )
    return machine


def _most_returned(job: Job, files: Files) -> int:
    limits = job.limits
    names = (limits.files + files.count) * _NAME_BYTES
    return limits.disk_mb * MIB + files.bytes_used + names + MIB
