"""A box as the spawner sees it: a process in its own world, ready for one job."""

from __future__ import annotations

import os
import signal
import socket
from typing import Any

from . import kernel, protocol
from .cgroups import Cgroup, Meters
from .copying import copy_tree

Key = tuple[object, ...]  # boxes with the same key show the same file system


class Box:
    def __init__(
        self,
        *,
        key: Key,
        pid: int,
        pidfd: int,
        channel: socket.socket,
        scratch: int,
        cgroup: Cgroup | None,
        uid: int,
    ) -> None:
        self.key = key
        self.pid = pid
        self.pidfd = pidfd
        self.channel = channel
        self.scratch = scratch
        self.cgroup = cgroup
        self.uid = uid
        self.ready = False

    def fill(self, limits: dict[str, Any], workspace: int) -> None:
        """Size its tmpfs and copy the job's files into it."""
        options = {
            "size": f"{limits['disk_mb']}m",
            "nr_inodes": str(limits["files"] + 16),  # our own directories
        }
        kernel.reconfigure(self.scratch, options)
        target = self.workspace()
        try:
            copy_tree(workspace, target, self.uid)
        finally:
            os.close(target)

    def meter(self, limits: dict[str, Any]) -> None:
        if self.cgroup is not None:
            meters = Meters(
                memory_bytes=limits["memory_mb"] << 20,
                processes=limits["processes"] + 1,  # process 1 is ours
                cpus=limits["cpus"],
            )
            self.cgroup.limit(meters, self.pid)

    def assign(self, message: protocol.Message, stdio: list[int]) -> None:
        """Hand over the job. From here on the program runs."""
        job = {"op": "job", **{name: message[name] for name in ("argv", "env", "limits")}}
        protocol.send(self.channel, protocol.encode(job), stdio)

    def report(self) -> dict[str, Any]:
        """What process 1 has to say; empty if it is gone without a word."""
        try:
            received = protocol.receive(self.channel)
        except OSError:
            received = None
        return received[0] if received else {}

    def workspace(self) -> int:
        """A directory fd of what the job sees, or left."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open("workspace", flags, dir_fd=self.scratch)

    def kill(self) -> None:
        """Kill process 1, and with it everything in the box."""
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def close(self) -> None:
        """Reap it and let go of all that belonged to it."""
        os.waitpid(self.pid, 0)
        self.channel.close()
        os.close(self.pidfd)
        os.close(self.scratch)
        if self.cgroup is not None:
            self.cgroup.remove()
