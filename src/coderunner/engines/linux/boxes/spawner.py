"""The spawner: makes boxes on request, watches their clocks and meters, reports how they ended.

Single-threaded, so that it may clone itself; one epoll loop, so that it sleeps when idle.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time
from typing import Any

from . import box, cgroup_place, host, identity, kernel, landlock, protocol, rootfs, seccomp
from .cgroups import Cgroup, Meters
from .running import RunningBox

_IDLE = -1.0
_MAX_ROOTS = 32


class Spawner:
    def __init__(self, channel: socket.socket, place: cgroup_place.Place | None) -> None:
        self._channel = channel
        self._place = place
        self._in_user_namespace = os.geteuid() != 0
        self._filter = seccomp.build(kernel.MACHINE, metered=place is not None)
        self._landlock = landlock.abi()
        self._last_capability = identity.last_capability()
        self._poll = select.epoll()
        self._poll.register(channel.fileno(), select.EPOLLIN)
        self._boxes: dict[int, RunningBox] = {}  # by job id
        self._by_fd: dict[int, RunningBox] = {}  # by pidfd and memory event
        self._roots: dict[tuple[tuple[str, str], ...], int] = {}
        self._busy_slots: set[int] = set()

    def serve(self) -> None:
        """Work until the caller is gone."""
        try:
            while self._turn():
                pass
        finally:
            self._end_all()

    def _turn(self) -> bool:
        for fd, event in self._poll.poll(self._sleep_seconds()):
            if fd == self._channel.fileno():
                if not self._read_channel():
                    return False
            elif fd in self._by_fd:
                self._on_box_event(fd, event)
        now = time.monotonic()
        for running in list(self._boxes.values()):
            if now >= running.wakes_at:
                running.check(now)
        return True

    def _sleep_seconds(self) -> float:
        if not self._boxes:
            return _IDLE
        soonest = min(running.wakes_at for running in self._boxes.values())
        return max(0.0, soonest - time.monotonic())

    def _read_channel(self) -> bool:
        try:
            received = protocol.receive(self._channel)
        except ConnectionError:
            return False
        if received is None:
            return False
        message, fds = received
        if message["op"] == "start":
            self._on_start(message, fds)
        elif message["op"] == "kill" and message["id"] in self._boxes:
            self._boxes[message["id"]].end(message["reason"])
        return True

    def _on_start(self, message: protocol.Message, fds: list[int]) -> None:
        try:
            self._start(message, fds)
        except OSError as error:
            text = f"{error.strerror or error} {error.filename or ''}".strip()
            self._send({"op": "failed", "id": message["id"], "kind": "engine", "message": text})
        finally:
            for fd in fds:
                os.close(fd)

    def _start(self, message: protocol.Message, fds: list[int]) -> None:
        limits: dict[str, Any] = message["limits"]
        slot = self._free_slot()
        root = self._root_for(message["mounts"])
        with contextlib.ExitStack() as undo:
            scratch = self._make_scratch(limits)
            undo.callback(os.close, scratch)
            cgroup = self._make_cgroup(f"box-{message['id']}", limits)
            if cgroup is not None:
                undo.callback(cgroup.remove)
            memory_event = cgroup.watch_memory() if cgroup is not None else None
            if memory_event is not None:
                undo.callback(os.close, memory_event)
            reader, writer = os.pipe2(os.O_CLOEXEC)
            undo.callback(os.close, reader)
            procs = cgroup.procs_fds() if cgroup is not None else []
            try:
                plan = box.Plan(
                    argv=message["argv"],
                    env=message["env"],
                    limits=limits,
                    scratch_mounts=[target for _, target, keep in message["mounts"] if keep],
                    uid=self._uid(slot),
                    stdio=fds[:3],
                    workspace=fds[3],
                    status=writer,
                    root=root,
                    scratch=scratch,
                    cgroup=procs,
                    cgroup_name=f"box-{message['id']}",
                    seccomp=self._filter,
                    landlock=self._landlock,
                    last_capability=self._last_capability,
                    in_user_namespace=self._in_user_namespace,
                )
                pid = kernel.clone(box.NAMESPACES, signal.SIGCHLD)
                if pid == 0:
                    box.run(plan)
            finally:
                for fd in (writer, *procs):
                    os.close(fd)
            self._watch(message, RunningBox(
                id=message["id"],
                pid=pid,
                pidfd=os.pidfd_open(pid),
                status=reader,
                scratch=scratch,
                cgroup=cgroup,
                memory_event=memory_event,
                limits=limits,
                collect=message["collect"],
                slot=slot,
            ))
            undo.pop_all()

    def _watch(self, message: protocol.Message, running: RunningBox) -> None:
        self._boxes[running.id] = running
        self._busy_slots.add(running.slot)
        for fd in (running.pidfd, running.memory_event):
            if fd is not None:
                self._by_fd[fd] = running
                self._poll.register(fd, select.EPOLLIN)

    def _on_box_event(self, fd: int, event: int) -> None:
        running = self._by_fd[fd]
        if fd == running.pidfd:
            self._finish(running)
        else:
            os.eventfd_read(fd)  # out of memory, and on v1 the kernel killed one process only
            running.end("memory")

    def _finish(self, running: RunningBox) -> None:
        """Process 1 is dead, and the kernel has killed the rest before letting us know."""
        os.waitpid(running.pid, 0)
        for fd in (running.pidfd, running.memory_event):
            if fd is not None:
                self._poll.unregister(fd)
                del self._by_fd[fd]
        del self._boxes[running.id]
        self._busy_slots.discard(running.slot)
        facts = running.conclude()
        workspace = running.workspace()
        running.close()
        self._send({**facts, "id": running.id}, [workspace] if workspace is not None else [])
        if workspace is not None:
            os.close(workspace)

    def _send(self, message: protocol.Message, fds: list[int] | None = None) -> None:
        # A caller that is gone shows as end of file on the next read.
        with contextlib.suppress(ConnectionError):
            protocol.send(self._channel, protocol.encode(message), fds or [])

    def _free_slot(self) -> int:
        return next(slot for slot in range(len(self._busy_slots) + 1) if slot not in self._busy_slots)

    def _uid(self, slot: int) -> int:
        return identity.INNER_ID if self._in_user_namespace else host.FIRST_UID + slot

    def _root_for(self, mounts: list[list[Any]]) -> int:
        key = tuple(sorted((source, target) for source, target, _ in mounts))
        if key not in self._roots:
            if len(self._roots) >= _MAX_ROOTS:
                os.close(self._roots.pop(next(iter(self._roots))))
            self._roots[key] = rootfs.build(
                key, identity.INNER_ID, in_user_namespace=self._in_user_namespace
            )
        return self._roots[key]

    def _make_scratch(self, limits: dict[str, Any]) -> int:
        options = {
            "size": f"{limits['disk_mb']}m",
            "nr_inodes": str(limits["files"] + 8),  # our own directories
            "mode": "755",
        }
        return kernel.new_tmpfs(options, kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV)

    def _make_cgroup(self, name: str, limits: dict[str, Any]) -> Cgroup | None:
        if self._place is None:
            return None
        meters = Meters(
            memory_bytes=limits["memory_mb"] << 20,
            processes=limits["processes"] + 1,  # process 1 is ours
            cpus=limits["cpus"],
        )
        return self._place.make(name, meters)

    def _end_all(self) -> None:
        for running in self._boxes.values():
            running.end("killed")
        while self._boxes:
            for fd, _ in self._poll.poll(1.0):
                running = self._by_fd.get(fd)
                if running is not None and fd == running.pidfd:
                    self._finish(running)
        if self._place is not None:
            self._place.close()


def main() -> None:
    """Entry point of the spawner process; the socket to the caller is stdin."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 of a box must have no handlers
    channel = socket.socket(fileno=0)
    try:
        place = host.prepare()
    except host.Unsuitable as error:
        hello = {"op": "unusable", "message": str(error), "hint": error.hint}
        protocol.send(channel, protocol.encode(hello))
        return
    spawner = Spawner(channel, place.cgroups)
    protocol.send(channel, protocol.encode({"op": "hello", **place.facts()}))
    gc.collect()
    gc.freeze()
    gc.disable()  # a collection would touch, and so copy, every page in every box
    spawner.serve()
    sys.exit(0)
