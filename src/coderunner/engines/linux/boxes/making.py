"""Making boxes: everything that happens before process 1 is on its own."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
from typing import Any

from . import cgroup_place, identity, inside, kernel, landlock, rootfs, seccomp
from .box import Box, Key

FIRST_UID = 60_000  # boxes of a root spawner run as this uid and those that follow it
_MAX_ROOTS = 32


class Maker:
    def __init__(self, place: cgroup_place.Place | None) -> None:
        self._place = place
        self._in_user_namespace = os.geteuid() != 0
        self._filter = seccomp.build(kernel.MACHINE, metered=place is not None)
        self._landlock = landlock.abi()
        self._last_capability = identity.last_capability()
        self._roots: dict[Key, int] = {}
        self._uids: set[int] = set()  # in use
        self._numbers = itertools.count(1)

    def key(self, mounts: list[list[Any]]) -> Key:
        """What boxes for jobs with these mounts have in common. It changes when something the
        host shows them is replaced: a box made before that would show what is gone."""
        triples = sorted((source, target, scratch) for source, target, scratch in mounts)
        return (*triples, *rootfs.identities([source for source, _, _ in triples]))

    def make(self, key: Key, mounts: list[list[Any]]) -> Box:
        """Clone a box; it sets itself up while we go on. Raises and leaves nothing behind if
        that cannot be done."""
        root = self._root_for(key, mounts)
        name = f"box-{next(self._numbers)}"
        uid = self._free_uid()
        with contextlib.ExitStack() as undo:
            scratch = kernel.new_tmpfs(
                {"mode": "755"}, kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV
            )
            undo.callback(os.close, scratch)
            cgroup = self._place.make(name) if self._place is not None else None
            if cgroup is not None:
                undo.callback(cgroup.remove)
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undo.callback(ours.close)
            with contextlib.ExitStack() as given:  # what only the box needs
                given.callback(theirs.close)
                entrances = cgroup.entrances() if cgroup is not None else []
                for fd in entrances:
                    given.callback(os.close, fd)
                plan = inside.Plan(
                    shown=[target for _, target, _ in mounts],
                    scratch_mounts=[target for _, target, scratch in mounts if scratch],
                    uid=uid,
                    channel=theirs.fileno(),
                    root=root,
                    scratch=scratch,
                    cgroup=entrances,
                    cgroup_name=name,
                    seccomp=self._filter,
                    landlock=self._landlock,
                    last_capability=self._last_capability,
                    in_user_namespace=self._in_user_namespace,
                )
                pid, pidfd = kernel.clone(kernel.CLONE_NEWPID)
                if pid == 0:
                    inside.run(plan)
            undo.pop_all()
        self._uids.add(uid)
        return Box(
            key=key,
            pid=pid,
            pidfd=pidfd,
            channel=ours,
            scratch=scratch,
            cgroup=cgroup,
            uid=uid,
        )

    def release(self, box: Box) -> None:
        """The box is gone: its uid may be given to another."""
        self._uids.discard(box.uid)

    def close(self) -> None:
        if self._place is not None:
            self._place.close()

    def _free_uid(self) -> int:
        """No two boxes share a uid, where there are several to be had."""
        if self._in_user_namespace:
            return identity.INNER_ID
        return next(uid for uid in itertools.count(FIRST_UID) if uid not in self._uids)

    def _root_for(self, key: Key, mounts: list[list[Any]]) -> int:
        if key not in self._roots:
            if len(self._roots) >= _MAX_ROOTS:
                os.close(self._roots.pop(next(iter(self._roots))))
            pairs = [(source, target) for source, target, _ in mounts]
            self._roots[key] = rootfs.build(
                pairs, identity.INNER_ID, in_user_namespace=self._in_user_namespace
            )
        return self._roots[key]
