"""Starts containers: of the kind that a job needs, with the warden, under a name."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coderunner.cancelling import outlast
from coderunner.engines.docker import delivery, hardening, images, owner
from coderunner.engines.docker.container import Container
from coderunner.engines.docker.daemon import Daemon, attach, is_taken
from coderunner.engines.docker.images import Image
from coderunner.engines.docker.order import Files
from coderunner.engines.docker.shown import Shown
from coderunner.errors import EngineUnavailable
from coderunner.model import Job
from coderunner.notices import Notice
from coderunner.settings import DockerSettings

_TRUSTED_S = 1.0  # nobody exchanges an image between two runs of a batch
_LABEL = "code-runner"  # of jobs that have none
_NAMES_TRIED = 20

Started = tuple[str, tuple[socket.socket, socket.socket]]  # its id; of stdin with stdout, of stderr


@dataclass(frozen=True, slots=True)
class Kind:
    """Jobs of one kind can use each other's containers."""

    config: Mapping[str, Any]
    label: str  # what their containers are called
    key: str

    @classmethod
    def of(cls, job: Job, image: Image, files: Files, runtime: str) -> Kind:
        config = hardening.container(
            job, image=image.id, image_volumes=image.volumes, files=files, runtime=runtime
        )
        label = re.sub(r"[^a-zA-Z0-9_.-]", "-", job.label or _LABEL)
        return cls(config, label, json.dumps([label, config], sort_keys=True))


class Launcher:
    def __init__(
        self,
        daemon: Daemon,
        machine: str,
        users: range,
        shown: Shown,
        settings: DockerSettings,
        notice: Notice,
    ) -> None:
        self._daemon = daemon
        self._machine = machine
        self._users = users
        self._shown = shown
        self._settings = settings
        self._notice = notice
        self._warden = ""  # the volume with it
        self._delivering = asyncio.Lock()
        self._images: dict[str, tuple[float, Image]] = {}  # until when, and what

    async def image(self, name: str) -> Image:
        until, image = self._images.get(name, (0.0, None))
        if image is None or time.monotonic() > until:
            image = await self._daemon.ask(
                f"looking for the image {name}",
                lambda api: images.find(api, name, self._settings, self._notice),
            )
            self._images[name] = (time.monotonic() + _TRUSTED_S, image)
        return image

    async def launch(self, kind: Kind, *, seconds: float | None, keep: bool) -> Container:
        """With `keep`, under a name of its own. `seconds`: how long it can be of use at most."""
        made: list[Started] = []
        starting = asyncio.create_task(self._start(kind, seconds, made, keep=keep))
        try:
            await outlast(starting)
            starting.result()
        except BaseException:  # also if somebody has cancelled that task, and a thread went on
            for container, ends in made:
                for end in ends:
                    end.close()
                await self._daemon.remove(container)
            raise
        container, ends = made[-1]
        return Container(container, ends, kind.key)

    async def close(self) -> None:
        warden, self._warden = self._warden, ""
        if warden:  # where nobody answers any more, it is found by its label later
            with contextlib.suppress(EngineUnavailable):
                await self._take_back(warden)

    def forgets(self, error: EngineUnavailable) -> bool:
        """Whether it was for want of an image that we took to be there."""
        vanished = any(images.has_vanished(image, error) for _, image in self._images.values())
        if vanished:
            self._images.clear()
        return vanished

    async def _start(
        self, kind: Kind, seconds: float | None, made: list[Started], *, keep: bool
    ) -> None:
        warden = await self._delivered(kind)
        try:
            await self._start_with(warden, kind, seconds, made, keep=keep)
            return
        except EngineUnavailable as error:
            if "warden" not in error.message:
                raise
        await self._forget(warden)
        await self._start_with(await self._delivered(kind), kind, seconds, made, keep=keep)

    async def _forget(self, warden: str) -> None:
        """Somebody has removed it, and Docker has made an empty one of that name."""
        if self._warden == warden:
            self._warden = ""
        with contextlib.suppress(EngineUnavailable):  # in use by a run that will do the same
            await self._take_back(warden)

    async def _take_back(self, warden: str) -> None:
        await self._daemon.ask("removing a volume", lambda api: delivery.take_back(api, warden))

    async def _start_with(
        self, warden: str, kind: Kind, seconds: float | None, made: list[Started], *, keep: bool
    ) -> None:
        labels = owner.labels(seconds)
        config = hardening.for_one(kind.config, self._machine, labels, warden, self._users)
        config = await self._shown.resolve(config)
        for left in range(_NAMES_TRIED - 1, -1, -1):
            name = f"{kind.label}-{secrets.token_hex(2)}" if keep else _unusual_name()
            try:
                await self._daemon.ask("starting a container", _starting(config, name, made))
                return
            except EngineUnavailable as error:
                if is_taken(error) and left:  # whoever has that name already keeps it
                    continue
                if not is_taken(error):  # who has not answered may have made it all the same
                    self._daemon.remove_later(name)
                raise
        raise AssertionError("the last one raises")

    async def _delivered(self, kind: Kind) -> str:
        async with self._delivering:
            if not self._warden:
                self._warden = await self._daemon.ask(
                    "making a volume", lambda api: delivery.deliver(api, kind.config["Image"])
                )
            return self._warden


def _unusual_name() -> str:
    return f"coderunner-{secrets.token_hex(8)}"


def _starting(config: Mapping[str, Any], name: str, made: list[Started]) -> Callable[[Any], None]:
    """Create, attach, start: all in one go in a thread. What was `made` is known at once, whatever
    becomes of whoever waits for that."""

    def start(api: Any) -> None:
        container = str(api.create_container_from_config(dict(config), name)["Id"])
        with contextlib.ExitStack() as undo:
            undo.callback(_remove_quietly, api, container)
            main = attach(api, container, stdin=1, stdout=1)
            undo.callback(main.close)
            errors = attach(api, container, stderr=1)
            undo.callback(errors.close)
            api.start(container)
            undo.pop_all()
        made.append((container, (main, errors)))

    return start


def _remove_quietly(api: Any, container: str) -> None:
    with contextlib.suppress(Exception):
        api.remove_container(container, force=True, v=True)
