"""The spawner: makes boxes, gives them jobs, watches clocks and meters, reports how jobs ended.

Single-threaded, so that it may clone itself; one epoll loop, so that it sleeps when idle. Nothing
in it waits: a box says when it is ready, and the kernel says when it is dead.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import math
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import Any

from . import host, kernel, protocol
from .answers import Answers, failure, what_happened
from .box import Box, Key
from .controls import write
from .making import Maker, Order
from .run import Run
from .spares import Spares
from .zygote import Broken, Zygote
from .zygotes import Zygotes

# A spare is made when a program has ended, or while it runs if that takes long: a short program
# should not have to share the machine with the making of the next box.
_REFILL_SOON, _REFILL_LATER = 0.0, 0.02
_LONGEST_MESSAGE = 2000
_PRECEDENCE = -10
_FOR_PROGRAMS = (
    *(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1),
    *(signal.SIGUSR2, signal.SIGWINCH, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU),
)
_INTERPRETED = "--interpreted"  # process 1 in Python, whatever there is


class Spawner:
    def __init__(self, channel: socket.socket, maker: Maker) -> None:
        self._channel = channel
        self._answers = Answers(channel)
        self._listening = select.EPOLLIN
        self._maker = maker
        self._spares = Spares()
        self._zygotes = Zygotes(maker.warm_up)
        self._wanted: dict[Key, tuple[float, Order]] = {}  # spares to be made, and when
        self._runs: dict[int, Run] = {}  # by job id
        self._run_in: dict[Box, Run] = {}
        self._on_ready: dict[int, tuple[Any, Any]] = {}  # by fd: what to call, and with what
        self._boxes: set[Box] = set()
        self._poll = select.epoll()
        self._poll.register(channel.fileno(), select.EPOLLIN)

    def serve(self) -> None:
        """Work until the caller is gone."""
        try:
            while self._turn():
                pass
        finally:
            self._end_all()

    def _turn(self) -> bool:
        found = self._poll.poll(self._sleep_seconds())
        # Who was watched then: meanwhile a descriptor may be closed, and its number another's.
        for fd, events, watcher in [(*event, self._on_ready.get(event[0])) for event in found]:
            if fd == self._channel.fileno():
                if events & select.EPOLLOUT:
                    self._answers.flush()
                    self._listen()
                if events & ~select.EPOLLOUT and not self._read_channel():
                    return False
            elif watcher is not None and self._on_ready.get(fd) is watcher:
                call, subject = watcher
                call(subject)
        now = time.monotonic()
        due = [run for run in self._runs.values() if now >= run.wakes_at]
        # Those whose time is up come first: a look at another may take a while.
        for run in sorted(due, key=lambda run: not run.is_overdue(now)):
            self._check(run, now)
        for box in self._spares.stale(now):
            box.kill()
        for zygote in self._zygotes.done(now):
            self._end_zygote(zygote)
        self._refill(now)
        return True

    def _sleep_seconds(self) -> float:
        """Until the next deadline; for ever (-1) if there is none."""
        moments = [run.wakes_at for run in self._runs.values()]
        moments += [due for due, _ in self._wanted.values()]
        for moment in (self._spares.next_stale_at(), self._zygotes.next_look_at()):
            if moment is not None:
                moments.append(moment)
        first = min(moments, default=math.inf)
        return -1 if first == math.inf else max(0.0, first - time.monotonic())

    def _read_channel(self) -> bool:
        """False once the caller is gone. What makes no sense is passed over."""
        try:
            received = protocol.receive(self._channel)
        except ConnectionError:
            return False
        except ValueError:
            return True
        if received is None:
            return False
        message, fds = received
        number = message.get("id")
        if type(number) is int:
            run = self._runs.get(number)
            if message["op"] == "start" and run is None:
                self._on_start(message, fds)
                return True
            if message["op"] in ("warm", "is_warm", "cool"):
                self._on_warmth(message)
            if message["op"] == "signal" and run is not None:
                run.signal(message.get("signal"))
            if message["op"] == "kill" and run is not None:
                run.end(str(message.get("reason", "killed")))
        protocol.close_all(fds)
        return True

    def _on_start(self, message: protocol.Message, fds: list[int]) -> None:
        try:
            protocol.check_start(message)
            if len(fds) < protocol.START_FDS:  # the kernel drops what finds no room
                raise OSError(errno.EMFILE, "too many open files")
            order = Order(message)
            order.zygote = self._zygotes.ready(order)
            box = self._spares.take(order.key) or self._make(order)
        except Exception as error:  # one job's trouble must not become that of all the others
            protocol.close_all(fds)
            self._send({**failure(error), "id": message["id"]})
            return
        run = Run(message, fds)
        run.box = box
        self._runs[run.id] = run
        self._run_in[box] = run
        self._spares.in_use(order.key, sum(other.key == order.key for other in self._run_in))
        if box.ready:
            self._begin(run)
        if self._spares.wants(order.key) or self._zygotes.wants(order):
            self._wanted.setdefault(order.key, (time.monotonic() + _REFILL_LATER, order))

    def _on_warmth(self, message: protocol.Message) -> None:
        """About the interpreter that jobs like this one would be forked from."""
        answer = {"op": "warmth", "id": message["id"], "ok": False}
        try:
            protocol.check_start(message)
            order = Order(message)
            zygote = self._zygotes.started(order)
            match message["op"]:
                case "warm" if order.wish is not None:
                    self._zygotes.ready(order)  # which counts as asking for it
                    zygote = zygote or self._warm_up(order)
                    if not zygote.ready:
                        zygote.awaited_by.append(message["id"])
                        return
                case "cool" if zygote is not None:
                    self._cool(zygote)
            answer["ok"] = zygote is not None and zygote.alive
        except Exception as error:
            answer = {**failure(error), "id": message["id"]}
        self._send(answer)

    def _cool(self, zygote: Zygote) -> None:
        """It ends once the programs have ended that run in boxes of its making."""
        self._zygotes.retire(zygote)
        wanted = self._wanted.items()
        self._wanted = {key: item for key, item in wanted if item[1].wish != zygote.wish}
        for box in self._spares.made_from(zygote):
            box.kill()

    def _refill(self, now: float) -> None:
        """Make the spares that are due, one of each kind at a time."""
        for key, (due, order) in list(self._wanted.items()):
            if now < due:
                continue
            del self._wanted[key]
            with contextlib.suppress(OSError):  # then the next one is made when it is needed
                if self._zygotes.wants(order):
                    self._warm_up(order)
                elif self._spares.wants(key):
                    self._spares.add(self._make(order))
            if self._spares.wants(order.key):  # another one, if its interpreter has broken
                self._wanted[order.key] = (now + _REFILL_SOON, order)

    def _warm_up(self, order: Order) -> Zygote:
        zygote = self._zygotes.start(order)
        self._watch(zygote.channel.fileno(), self._on_zygote, zygote)
        return zygote

    def _on_zygote(self, zygote: Zygote) -> None:
        try:
            zygote.hear()
        except (OSError, ValueError):
            self._unwatch(zygote.channel.fileno())
            self._zygotes.fail(zygote)
        self._tell_who_waits(zygote)

    def _tell_who_waits(self, zygote: Zygote) -> None:
        for number in zygote.awaited_by:
            self._send({"op": "warmth", "id": number, "ok": zygote.ready})
        zygote.awaited_by.clear()

    def _end_zygote(self, zygote: Zygote) -> None:
        self._unwatch(zygote.channel.fileno())
        self._tell_who_waits(zygote)  # it was given up before it was ready
        zygote.end()

    def _make(self, order: Order) -> Box:
        try:
            box = self._maker.make(order)
        except Broken:
            assert order.zygote is not None
            self._zygotes.fail(order.zygote)
            order.zygote = None
            box = self._maker.make(order)
        if order.zygote is not None:
            self._zygotes.used(order.zygote)
        self._boxes.add(box)
        try:
            self._watch(box.channel.fileno(), self._on_word, box)
            self._watch(box.pidfd, self._on_death, box)
        except OSError:  # as when this user may watch no more
            box.kill()
            self._forget(box)
            raise
        return box

    def _on_word(self, box: Box) -> None:
        """A box has two things to say: that it is ready, and how its program ended."""
        word = box.report()
        run = self._run_in.get(box)
        if "ready" in word:
            box.become_ready()
            if run is not None and not run.reason:  # not killed before it came to run
                self._begin(run)
            return
        self._unwatch(box.channel.fileno())
        if run is None:  # a spare that failed: its death is next
            return
        if not run.started and not run.reason:
            run.never_ready(word.get("failed", "the box died while it was set up"))
        elif word:
            self._conclude(box, word)

    def _begin(self, run: Run) -> None:
        try:
            run.begin()
        except Exception as error:  # what else it may be, it is this run's alone
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            run.fail("input" if full else "engine", what_happened(error))
        else:
            if run.box.memory_event is not None:
                self._watch(run.box.memory_event, self._on_memory_event, run)

    def _check(self, run: Run, now: float) -> None:
        try:
            run.check(now)
        except Exception as error:
            run.fail("engine", what_happened(error))

    def _on_memory_event(self, run: Run) -> None:
        """Out of memory, and cgroup v1 has killed one process only."""
        assert run.box.memory_event is not None
        os.eventfd_read(run.box.memory_event)
        run.end("memory")

    def _on_death(self, box: Box) -> None:
        """Process 1 is dead, and the kernel has killed the rest before letting us know."""
        if box.channel.fileno() in self._on_ready:
            self._on_word(box)  # what it died of, if it said so
        self._spares.drop(box)
        self._conclude(box, {})
        self._forget(box)

    def _conclude(self, box: Box, report: protocol.Message) -> None:
        """Tell the caller how its job ended. All that is left in the box by now is process 1, on
        its way out; nobody needs to wait for that."""
        run = self._run_in.pop(box, None)
        if run is None:
            return
        del self._runs[run.id]
        run.close_fds()
        workspace = None
        try:
            facts = run.conclude(report)
            workspace = run.workspace()
        except Exception as error:
            facts = failure(error)
        self._send({**facts, "id": run.id}, [workspace] if workspace is not None else [])
        if box.memory_event is not None:
            self._unwatch(box.memory_event)
        if box.key in self._wanted:
            self._wanted[box.key] = (time.monotonic() + _REFILL_SOON, self._wanted[box.key][1])

    def _forget(self, box: Box) -> None:
        for fd in (box.pidfd, box.channel.fileno(), box.memory_event):
            if fd is not None:
                self._unwatch(fd)
        self._boxes.discard(box)
        box.close()
        self._maker.release(box)

    def _watch(self, fd: int, call: Any, subject: Any) -> None:
        self._poll.register(fd, select.EPOLLIN)
        self._on_ready[fd] = (call, subject)

    def _unwatch(self, fd: int) -> None:
        if self._on_ready.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def _send(self, message: protocol.Message, fds: list[int] | None = None) -> None:
        """Takes the descriptors."""
        if "message" in message:  # it may quote something endless
            message = {**message, "message": message["message"][:_LONGEST_MESSAGE]}
        self._answers.send(message, fds or [])
        self._listen()

    def _listen(self) -> None:
        """For requests; and, if answers wait, for the moment when they can be sent."""
        events = select.EPOLLIN | (select.EPOLLOUT if self._answers else 0)
        if events != self._listening:
            self._poll.modify(self._channel.fileno(), events)
            self._listening = events

    def _end_all(self) -> None:
        for box in self._boxes:
            box.kill()
        while self._boxes:
            self._poll.poll(1.0)
            for box in [box for box in self._boxes if box.is_dead()]:
                self._on_death(box)
        for zygote in self._zygotes.all():
            zygote.end()


def main() -> None:
    """Entry point of the spawner process; the socket to the caller is stdin."""
    for number in _FOR_PROGRAMS:  # whatever our caller ignores, or Python handles
        signal.signal(number, signal.SIG_DFL)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # five for each box at once
    channel = socket.socket(fileno=0)
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    _take_precedence(priority)
    try:
        this = host.prepare()
    except host.Unsuitable as error:
        _refuse(channel, error)
        return
    compiled = sys.argv[-1] != _INTERPRETED
    maker = Maker(this.cgroups, callers_files=soft, callers_priority=priority, compiled=compiled)
    try:
        _work(channel, maker, this)
    finally:
        maker.close()  # also if the caller was gone before it could be greeted


def _take_precedence(priority: int) -> None:
    """As root: whatever crowds of processes the programs are, who ends them must get its turn. (A
    box gives this up, and a program is in a session of its own.)"""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, priority + _PRECEDENCE)
        write("/proc/self/autogroup", _PRECEDENCE)  # what counts where sessions share the cpu


def _work(channel: socket.socket, maker: Maker, this: host.Host) -> None:
    try:
        host.try_walls(maker)
    except host.Unsuitable as error:
        _refuse(channel, error)
        return
    spawner = Spawner(channel, maker)
    protocol.send(
        channel, protocol.encode({"op": "hello", "compiled": maker.compiled, **this.facts()})
    )
    gc.collect()
    kernel.trim_memory()
    gc.freeze()
    gc.disable()  # a collection would touch, and so copy, every page in every box
    spawner.serve()


def _refuse(channel: socket.socket, error: host.Unsuitable) -> None:
    refusal = {"op": "unusable", "message": str(error), "hint": error.hint}
    protocol.send(channel, protocol.encode(refusal))
