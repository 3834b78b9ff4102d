"""Making boxes: everything that happens before process 1 is on its own."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
from collections.abc import Iterator
from typing import Any

from . import cgroup_place, identity, inside, kernel, process1, protocol, rootfs, stages
from .box import Box, Key
from .cgroups import Meters
from .plan import Template
from .stages import Kind, Surroundings
from .zygote import Wish, Zygote

# Boxes of a root spawner run as uids that nobody else has: each spawner takes a thousand of them at
# random, from the range that no tool hands out.
_UID_RANGE = range(1_900_000_000, 2_100_000_000, 1000)
_MAX_ROOTS, _MAX_TEMPLATES = 32, 256


# What a box is built around. The other limits are watched from outside, job by job.
_BUILT_IN = (
    "memory_mb",
    "processes",
    "disk_mb",
    "files",
    "open_files",
    "stack_mb",
    "cpus",
    "address_space_mb",
)


class Order:
    """What kind of box a job needs."""

    def __init__(self, message: protocol.Message) -> None:
        self.limits: dict[str, Any] = message["limits"]
        self.mounts: list[list[Any]] = message["mounts"]
        self.zygote: Zygote | None = None  # to be forked from, if that is possible
        self.terminal = bool(message.get("terminal"))
        sources = [source for source, _, _ in self.mounts]
        # Changes when something the host shows is replaced: an old root would show what is gone.
        self.root_key: Key = (
            self.terminal,
            *((source, target) for source, target, _ in self.mounts),
            *rootfs.identities(sources),
        )
        scratch = tuple(target for _, target, scratch in self.mounts if scratch)
        self.directory = message["directory"]
        self.box_key: Key = (
            self.root_key,
            scratch,
            self.directory,
            *(self.limits[name] for name in _BUILT_IN),
        )
        self.wish = self._wish(message)

    @property
    def key(self) -> Key:
        return (*self.box_key, self.zygote)

    def _wish(self, message: protocol.Message) -> Wish | None:
        warm = message.get("warm")
        if not warm:
            return None
        return Wish(
            root=self.root_key,
            shown=tuple(stages.shown(self.mounts)),
            command=tuple(message["argv"][: warm["words"]]),
            env=tuple(message["env"].items()),
            stack_mb=self.limits["stack_mb"],
            directory=self.directory,
            preload=tuple(warm["preload"]),
        )


class Maker:
    def __init__(
        self,
        place: cgroup_place.Place | None,
        *,
        callers_files: int,
        callers_priority: int,
        compiled: bool,
    ) -> None:
        self._place = place
        self._program = process1.program() if compiled else None
        self._around = Surroundings(
            in_user_namespace=os.geteuid() != 0,
            metered=place is not None,
            landlock=kernel.landlock_abi(),
            last_capability=identity.last_capability(),
            namespaces=identity.namespaces(),
            priority=callers_priority,
        )
        # Descriptors that are on their way are counted by user, and a box's is ours there: it must
        # not be able to have as many as our caller may.
        self._most_files = callers_files * 3 // 4 if self._around.in_user_namespace else 1 << 30
        self._templates: dict[Key, Template] = {}
        self._roots: dict[Key, int] = {}
        self._first_uid = _UID_RANGE[int.from_bytes(os.urandom(4)) % len(_UID_RANGE)]
        self._uids: set[int] = set()  # in use
        self._numbers = itertools.count(1)

    @property
    def compiled(self) -> bool:
        """Whether process 1 of a box is."""
        return self._program is not None

    def warm_up(self, order: Order) -> Zygote:
        """Start the interpreter that an order wishes for."""
        assert order.wish is not None
        return Zygote(order.wish, self._root_for(order), compiled=self.compiled)

    def make(self, order: Order) -> Box:
        """Start a box; it sets itself up while we go on. Raises and leaves nothing behind if
        that cannot be done."""
        limits = order.limits
        root = self._root_for(order)
        name = f"box-{next(self._numbers)}"
        uid = self._free_uid()
        with contextlib.ExitStack() as undo:
            scratch = _new_scratch(limits)
            undo.callback(os.close, scratch)
            cgroup = self._place.make(name) if self._place is not None else None
            memory_event = None
            if cgroup is not None:
                undo.callback(cgroup.remove)
                cgroup.limit(meters(limits))
                memory_event = cgroup.watch_memory()
                if memory_event is not None:
                    undo.callback(os.close, memory_event)
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undo.callback(ours.close)
            with contextlib.ExitStack() as given:  # what only the box needs
                given.callback(theirs.close)
                entrances = cgroup.entrances() if cgroup is not None else []
                for fd in entrances:
                    given.callback(os.close, fd)
                template = self._template(order, len(entrances))
                plan = template.fill(stages.values(uid, name))
                pid, pidfd = self._start(
                    order.zygote, plan, ours, theirs, [root, scratch, *entrances]
                )
            undo.pop_all()
        self._uids.add(uid)
        return Box(
            key=order.key,
            pid=pid,
            pidfd=pidfd,
            channel=ours,
            scratch=scratch,
            cgroup=cgroup,
            memory_event=memory_event,
            uid=uid,
            open_files=min(limits["open_files"], self._most_files),
            zygote=order.zygote,
        )

    def _start(
        self,
        zygote: Zygote | None,
        plan: bytes,
        ours: socket.socket,
        theirs: socket.socket,
        fds: list[int],
    ) -> tuple[int, int]:
        """Process 1: its id, and a descriptor for it."""
        if zygote is not None:
            with plan_file(plan) as file:
                return zygote.fork([file, theirs.fileno(), *fds])
        if self._program is not None:
            return _start_program(self._program, plan, ours, theirs, fds)
        pid, pidfd = kernel.clone(kernel.CLONE_NEWPID)
        if pid == 0:
            inside.run(plan, [theirs.fileno(), *fds])
        return pid, pidfd

    def _template(self, order: Order, cgroups: int) -> Template:
        key = (*order.box_key, cgroups)
        if key not in self._templates:
            if len(self._templates) >= _MAX_TEMPLATES:
                del self._templates[next(iter(self._templates))]
            kind = Kind(order.limits, order.mounts, cgroups, order.terminal, order.directory)
            self._templates[key] = stages.write_down(self._around, kind)
        return self._templates[key]

    def release(self, box: Box) -> None:
        """The box is gone: its uid may be given to another."""
        self._uids.discard(box.uid)
        if box.zygote is not None:
            box.zygote.boxes -= 1

    def close(self) -> None:
        if self._place is not None:
            self._place.close()

    def _free_uid(self) -> int:
        """No two boxes share a uid, where there are several to be had."""
        if self._around.in_user_namespace:
            return identity.INNER_ID
        return next(uid for uid in itertools.count(self._first_uid) if uid not in self._uids)

    def _root_for(self, order: Order) -> int:
        if order.root_key not in self._roots:
            if len(self._roots) >= _MAX_ROOTS:
                os.close(self._roots.pop(next(iter(self._roots))))
            pairs = [(source, target) for source, target, _ in order.mounts]
            self._roots[order.root_key] = rootfs.build(
                pairs,
                identity.INNER_ID,
                in_user_namespace=self._around.in_user_namespace,
                terminal=order.terminal,
            )
        return self._roots[order.root_key]


def _start_program(
    program: str, plan: bytes, ours: socket.socket, theirs: socket.socket, fds: list[int]
) -> tuple[int, int]:
    pid, pidfd = process1.start(program, theirs.fileno())
    try:
        with plan_file(plan) as file:
            protocol.send(ours, b"plan", [file, *fds])
    except OSError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(pidfd)
        raise
    return pid, pidfd


@contextlib.contextmanager
def plan_file(plan: bytes) -> Iterator[int]:
    """A plan on its way. It may be too large for a packet: a box can be shown hundreds of paths."""
    fd = os.memfd_create("coderunner-plan", os.MFD_CLOEXEC)
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(plan)
        yield fd
    finally:
        os.close(fd)


def _new_scratch(limits: dict[str, Any]) -> int:
    """The tmpfs that holds all that a box may write."""
    options = {
        "size": f"{limits['disk_mb']}m",
        "nr_inodes": str(limits["files"] + 16),  # our own directories
        "mode": "755",
    }
    return kernel.new_tmpfs(options, kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV)


def meters(limits: dict[str, Any]) -> Meters:
    return Meters(
        memory_bytes=limits["memory_mb"] << 20,
        processes=limits["processes"] + 1,  # process 1 is ours
        cpus=limits["cpus"],
    )
