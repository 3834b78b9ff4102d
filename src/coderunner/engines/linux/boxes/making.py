"""Making a box: everything that happens before its first process is on its own."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Any

from . import box, cgroup_place, identity, kernel, landlock, protocol, rootfs, seccomp
from .cgroups import Cgroup, Meters
from .running import RunningBox

FIRST_UID = 60_000  # boxes of a root spawner run as this uid and those that follow it
_MAX_ROOTS = 32


class Maker:
    def __init__(self, place: cgroup_place.Place | None) -> None:
        self._place = place
        self._in_user_namespace = os.geteuid() != 0
        self._filter = seccomp.build(kernel.MACHINE, metered=place is not None)
        self._landlock = landlock.abi()
        self._last_capability = identity.last_capability()
        self._roots: dict[tuple[object, ...], int] = {}
        self._busy_slots: set[int] = set()

    def make(self, message: protocol.Message, fds: list[int]) -> RunningBox:
        """Clone a box for this job. Raises and leaves nothing behind if it cannot."""
        if len(fds) < protocol.START_FDS:  # the kernel drops what finds no room
            raise OSError(errno.EMFILE, "too many open files")
        limits: dict[str, Any] = message["limits"]
        name = f"box-{message['id']}"
        root = self._root_for(message["mounts"])
        with contextlib.ExitStack() as undo:
            scratch = _make_scratch(limits)
            undo.callback(os.close, scratch)
            cgroup = self._make_cgroup(name, limits)
            memory_event = None
            if cgroup is not None:
                undo.callback(cgroup.remove)
                memory_event = cgroup.watch_memory()
                if memory_event is not None:
                    undo.callback(os.close, memory_event)
            status, writer = os.pipe2(os.O_CLOEXEC)
            undo.callback(os.close, status)
            os.set_blocking(status, False)
            slot = self._free_slot()
            with contextlib.ExitStack() as given:  # what only the box needs
                given.callback(os.close, writer)
                procs = cgroup.procs_fds() if cgroup is not None else []
                for fd in procs:
                    given.callback(os.close, fd)
                plan = box.Plan(
                    argv=message["argv"],
                    env=message["env"],
                    limits=limits,
                    shown=[target for _, target, _ in message["mounts"]],
                    scratch_mounts=[target for _, target, scratch in message["mounts"] if scratch],
                    uid=identity.INNER_ID if self._in_user_namespace else FIRST_UID + slot,
                    stdio=fds[:3],
                    workspace=fds[3],
                    status=writer,
                    root=root,
                    scratch=scratch,
                    cgroup=procs,
                    cgroup_name=name,
                    seccomp=self._filter,
                    landlock=self._landlock,
                    last_capability=self._last_capability,
                    in_user_namespace=self._in_user_namespace,
                )
                pid, pidfd = kernel.clone(box.NAMESPACES)
                if pid == 0:
                    box.run(plan)
            undo.pop_all()
        self._busy_slots.add(slot)
        return RunningBox(
            id=message["id"],
            pid=pid,
            pidfd=pidfd,
            status=status,
            scratch=scratch,
            cgroup=cgroup,
            memory_event=memory_event,
            limits=limits,
            collect=message["collect"],
            slot=slot,
        )

    def release(self, running: RunningBox) -> None:
        """The box is gone: its uid may be given to another."""
        self._busy_slots.discard(running.slot)

    def close(self) -> None:
        if self._place is not None:
            self._place.close()

    def _free_slot(self) -> int:
        candidates = range(len(self._busy_slots) + 1)
        return next(slot for slot in candidates if slot not in self._busy_slots)

    def _root_for(self, mounts: list[list[Any]]) -> int:
        pairs = sorted((source, target) for source, target, _ in mounts)
        key = (*pairs, *rootfs.identities([source for source, _ in pairs]))
        if key not in self._roots:
            if len(self._roots) >= _MAX_ROOTS:
                os.close(self._roots.pop(next(iter(self._roots))))
            self._roots[key] = rootfs.build(
                pairs, identity.INNER_ID, in_user_namespace=self._in_user_namespace
            )
        return self._roots[key]

    def _make_cgroup(self, name: str, limits: dict[str, Any]) -> Cgroup | None:
        if self._place is None:
            return None
        meters = Meters(
            memory_bytes=limits["memory_mb"] << 20,
            processes=limits["processes"] + 1,  # process 1 is ours
            cpus=limits["cpus"],
        )
        return self._place.make(name, meters)


def _make_scratch(limits: dict[str, Any]) -> int:
    """The tmpfs that holds all that the box may write."""
    options = {
        "size": f"{limits['disk_mb']}m",
        "nr_inodes": str(limits["files"] + 16),  # our own directories
        "mode": "755",
    }
    return kernel.new_tmpfs(options, kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV)
