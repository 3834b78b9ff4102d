"""Kernels in boxes for everything that starts kernels by way of jupyter_client.

A kernelspec asks for it in its `kernel.json`:

    "metadata": {"kernel_provisioner": {"provisioner_name": "coderunner", "config": {…}}}

The kernel sees neither the server's environment nor its files: its notebook's directory is empty.
"""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Int, Unicode

from coderunner.background import background
from coderunner.model import EndedBy, Isolation, Limits
from coderunner.notebook.kernel.boxed import BoxedKernel
from coderunner.notebook.kernel.command import command_of
from coderunner.settings import Settings

_CONNECTION_FILE = "{connection_file}"
_HOUR_MS = 3_600_000
_ENDED_OTHERWISE = 1


class BoxProvisioner(LocalProvisioner):
    """Ports and the connection file are as for any local kernel; only its process is elsewhere."""

    memory_mb = Int(2048, min=1, config=True, help="for all that the kernel does in its life")
    disk_mb = Int(256, min=1, config=True, help="the files it may write, which count as memory")
    processes = Int(256, min=1, config=True, help="processes and threads at once")
    life_hours = Int(24, min=1, config=True, help="after so long it is ended")
    min_isolation = Unicode("", config=True, help="refuse to start it behind weaker walls")

    _kernel: BoxedKernel | None = None

    @property
    def has_process(self) -> bool:
        return self._kernel is not None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        manager: Any = self.parent
        words = [word.replace(manager.connection_file, _CONNECTION_FILE) for word in cmd]
        spec = self.kernel_spec
        command = command_of(words, spec.env, spec.resource_dir)
        self._kernel = await background().hand_over(self._start(command))
        return self.connection_info

    async def poll(self) -> int | None:
        return None if self._kernel is None or self._kernel.alive else self._status(self._kernel)

    async def wait(self) -> int | None:
        kernel = self._kernel
        if kernel is None:
            return None
        await background().hand_over(_until_ended(kernel))
        self._kernel = None
        return self._status(kernel)

    async def send_signal(self, signum: int) -> None:
        if self._kernel is None:
            return
        if signum == signal.SIGKILL:
            await background().hand_over(self._kernel.end())
        elif signum:
            await background().hand_over(_signal(self._kernel, signum))

    async def kill(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGKILL)

    async def terminate(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGTERM)

    async def cleanup(self, restart: bool = False) -> None:
        await self.kill()
        await super().cleanup(restart)

    async def _start(self, command: Any) -> BoxedKernel:
        settings = Settings()
        if self.min_isolation:
            settings = settings.model_copy(update={"min_isolation": Isolation(self.min_isolation)})
        runner = await background().runner(command.settings(settings))
        limits = Limits(
            wall_ms=self.life_hours * _HOUR_MS,
            memory_mb=self.memory_mb,
            disk_mb=self.disk_mb,
            processes=self.processes,
        )
        limits.but({"wall_ms": 1}).check_below(settings.ceiling)
        await runner.isolation()
        kernel = BoxedKernel(runner, command, limits)
        await kernel.start(self.connection_info)
        return kernel

    def _status(self, kernel: BoxedKernel) -> int:
        ended = kernel.ended
        if ended.cancelled() or ended.exception() is not None:
            return _ENDED_OTHERWISE
        outcome = ended.result()
        if outcome.ended_by is EndedBy.EXIT:
            return outcome.exit_code or 0
        return -(outcome.signal or signal.SIGKILL)


async def _until_ended(kernel: BoxedKernel) -> None:
    await asyncio.wait({kernel.ended})


async def _signal(kernel: BoxedKernel, number: int) -> None:
    kernel.signal(number)
