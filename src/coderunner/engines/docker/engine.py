"""The Docker engine: a fresh container for every job, hardened, and removed when it ends.

    create ─▶ attach ─▶ start ─▶ order, files, stdin ─▶ the warden's report ─▶ remove
                                 └─ all through the container's own streams ┘

The first process of each container is our warden (`warden/warden.c`). It keeps the clock, ends the
whole tree, and reads the container's cgroup, the meter of truth. The streams are attached before
anything runs, so that nothing is lost, and the daemon keeps no log.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import platform
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coderunner.cancelling import in_thread, outlast
from coderunner.engines.base import Capabilities, Engine, Process, ToolchainSource
from coderunner.engines.docker import controls, delivery, hardening, images, leftovers, owner
from coderunner.engines.docker.daemon import Daemon, attach, is_taken, refuse_podman
from coderunner.engines.docker.images import Image, Notice
from coderunner.engines.docker.order import TOKEN_SIZE, Files, order
from coderunner.engines.docker.profile import ARCHITECTURES
from coderunner.engines.docker.returned import Returned
from coderunner.engines.docker.running import Running
from coderunner.engines.docker.spares import Spares, Started
from coderunner.engines.docker.tools import ImageToolchains
from coderunner.errors import EngineUnavailable, faults_of_the_machine
from coderunner.language import Language
from coderunner.model import MIB, Job
from coderunner.settings import DockerSettings

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # as Docker has it
_HOME = {"HOME": "/workspace", "TMPDIR": "/tmp"}
_MOST_REMOVING = 16  # at once, in the background
_TRUSTED_S = 1.0  # nobody exchanges an image between two runs of a batch
_SPARE_S = 120  # that a container may be there beside its time limit
_NAME_BYTES = 4200  # of each file that comes back, beside its content


@dataclass(frozen=True, slots=True)
class _Ready:
    """A daemon that has been looked at."""

    daemon: Daemon
    machine: str
    capabilities: Capabilities
    spares: Spares


class DockerEngine(Engine):
    name = "docker"

    def __init__(self, settings: DockerSettings | None = None, *, client: Any = None) -> None:
        """`client` is a docker client of the caller's, who also closes it."""
        self.settings = settings or DockerSettings()
        self._client = client
        self._notice: Notice = lambda text: None
        self._ready: _Ready | None = None
        self._swept: list[str] = []
        self._warden = ""  # the volume with it
        self._preparing = asyncio.Lock()
        self._images: dict[str, tuple[float, Image]] = {}  # until when, and what
        self._running: set[Running] = set()
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

    async def image_of(self, language: Language) -> Image:
        ready = await self._open()
        return await self._image(ready.daemon, images.image_of(language, self.settings))

    async def start(self, job: Job) -> Process:
        ready = await self._open()
        if job.limits.cpus is not None:
            controls.check_throttle(ready.capabilities)
        name = job.image or self.settings.image or images.FALLBACK
        image = await self._image(ready.daemon, name)
        try:
            return await self._start(ready, job, image)
        except EngineUnavailable as error:
            if not images.has_vanished(image, error):
                raise
        self._images.clear()  # there may be another one of that name by now, or elsewhere
        return await self._start(ready, job, await self._image(ready.daemon, name))

    async def _start(self, ready: _Ready, job: Job, image: Image) -> Process:
        with faults_of_the_machine():
            files = await in_thread(lambda: Files(job.workspace))
        token = secrets.token_bytes(TOKEN_SIZE)
        env = {"PATH": _PATH, **image.env, **_HOME, **job.env}
        said = order(job, env, token, files)
        container, ends, ready_made = await self._container(ready, job, image, files)
        running = Running(
            ready.daemon,
            container,
            job,
            ready.capabilities.isolation,
            ends,
            token,
            self._let_go,
            Returned(_most_returned(job, files)),
            warm=ready_made,
        )
        self._running.add(running)
        try:
            await running.send(said)
        except BaseException:
            await running.close()
            raise
        return running

    async def aclose(self) -> None:
        closing = [asyncio.create_task(running.close()) for running in self._running]
        await outlast(*closing)
        ready, self._ready = self._ready, None
        if ready is None:
            return
        await ready.spares.close()
        await outlast(*self._removing)
        await ready.daemon.remove()  # what was left while nobody answered
        warden, self._warden = self._warden, ""
        try:
            if warden:  # where nobody answers any more, it is found by its label later
                with contextlib.suppress(EngineUnavailable):
                    await ready.daemon.ask(
                        "removing a volume", lambda api: delivery.take_back(api, warden)
                    )
        finally:
            ready.daemon.close()

    async def _let_go(self, running: Running, container: str) -> None:
        """Nothing runs in it any more. Who keeps containers ready is in a hurry, so there it is
        removed while others go on."""
        self._running.discard(running)
        if self._ready is None:
            return
        removing = asyncio.create_task(self._ready.daemon.remove(container))
        self._removing.add(removing)
        removing.add_done_callback(self._removing.discard)
        if not self.settings.ready or len(self._removing) > _MOST_REMOVING:
            await outlast(removing)

    async def _open(self) -> _Ready:
        async with self._preparing:
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
        spares = Spares(self.settings.ready, daemon.remove)
        return _Ready(daemon, machine, capabilities, spares)

    async def _image(self, daemon: Daemon, name: str) -> Image:
        until, image = self._images.get(name, (0.0, None))
        if image is None or time.monotonic() > until:
            image = await daemon.ask(
                f"looking for the image {name}",
                lambda api: images.find(api, name, self.settings, self._notice),
            )
            self._images[name] = (time.monotonic() + _TRUSTED_S, image)
        return image

    async def _delivered(self, daemon: Daemon, image: Image) -> str:
        async with self._preparing:
            if not self._warden:
                self._warden = await daemon.ask(
                    "making a volume", lambda api: delivery.deliver(api, image.id)
                )
            return self._warden

    async def _forget_warden(self, daemon: Daemon, volume: str) -> None:
        """Somebody has removed it, and Docker has made an empty one of that name."""
        if self._warden == volume:
            self._warden = ""
        with contextlib.suppress(EngineUnavailable):  # in use by another run that will do the same
            await daemon.ask("removing a volume", lambda api: delivery.take_back(api, volume))

    async def _container(
        self, ready: _Ready, job: Job, image: Image, files: Files
    ) -> tuple[str, tuple[socket.socket, socket.socket], bool]:
        """One for this job, and whether it had started before."""
        kind = await self._kind(ready, job, image, files)
        name = json.dumps(kind, sort_keys=True)
        spare = await ready.spares.take(name)
        try:
            found = spare or await self._launch(ready, kind, job.limits.wall_ms / 1000 + _SPARE_S)
        except EngineUnavailable as error:
            if "warden" not in error.message:
                raise
            await self._forget_warden(ready.daemon, hardening.warden_of(kind))
            kind = await self._kind(ready, job, image, files)
            found = await self._launch(ready, kind, job.limits.wall_ms / 1000 + _SPARE_S)
        ready.spares.make(name, lambda: self._launch(ready, kind, None))
        return *found, spare is not None

    async def _kind(self, ready: _Ready, job: Job, image: Image, files: Files) -> dict[str, Any]:
        return hardening.container(
            job,
            image=image.id,
            image_volumes=image.volumes,
            warden=await self._delivered(ready.daemon, image),
            files=files,
            runtime=self.settings.runtime,
        )

    async def _launch(
        self, ready: _Ready, kind: Mapping[str, Any], seconds: float | None
    ) -> Started:
        config = hardening.for_one(kind, ready.machine, owner.labels(seconds))
        name = f"coderunner-{secrets.token_hex(8)}"
        starting = asyncio.create_task(
            ready.daemon.ask("starting a container", _start(config, name))
        )
        try:
            await outlast(starting)
        except asyncio.CancelledError:
            if starting.exception() is None:
                container, ends = starting.result()
                for end in ends:
                    end.close()
                await ready.daemon.remove(container)
            raise
        try:
            return starting.result()
        except EngineUnavailable as error:
            if not is_taken(error):  # a daemon that has not answered may have made it all the same
                ready.daemon.remove_later(name)
            raise


def _start(config: Mapping[str, Any], name: str) -> Callable[[Any], Started]:
    """Create, attach, start: all in one go in a thread."""

    def start(api: Any) -> Started:
        container = str(api.create_container_from_config(dict(config), name)["Id"])
        with contextlib.ExitStack() as undo:
            undo.callback(_remove_quietly, api, container)
            main = attach(api, container, stdin=1, stdout=1)
            undo.callback(main.close)
            errors = attach(api, container, stderr=1)
            undo.callback(errors.close)
            api.start(container)
            undo.pop_all()
        return container, (main, errors)

    return start


def _remove_quietly(api: Any, container: str) -> None:
    with contextlib.suppress(Exception):
        api.remove_container(container, force=True, v=True)


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
