"""One job in a box: its clock, its meters, when it is ended, and what is said of its end."""

from __future__ import annotations

import errno
import math
import os
import resource
import signal
import time
from typing import Any

from . import protocol, sampling
from .box import Box
from .stages import at_most

# Sampling must see a leak before it hurts; page faults fill some 20 MB in this time.
_SAMPLE_EVERY = 0.01
# A look at many processes takes long. It must not keep us from all other runs, nor be asked for by
# a program to that end; so then the next one comes later.
_PAUSE_PER_LOOK, _LONGEST_PAUSE = 5.0, 0.25
_LOOK_EVERY = 0.05
_CPU_CHECK_AT_LEAST = 0.005
_SETUP_SECONDS = 30.0
_UNTIL_IT_IS_THERE = 0.005  # a program that signals wait for
# Nobody can look into a socket's buffers. Beyond a few dozen sockets each counts as full.
_FREE_SOCKETS, _SOCKET_KB = 64, 256
# Locks on parts of files are memory of the kernel's that no cgroup counts, some 200 bytes each.
_MANY_LOCKS = 5_000
# A program that cannot be started for want of these is the machine's trouble, not its own.
_MAPPED_KB = 48 * 1024  # files that a runtime has mapped: Node 34 MB, Java 31
_OUT_OF_SOMETHING = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)


class Run:
    """Begins as a request that waits for its box to be ready."""

    def __init__(self, message: protocol.Message, fds: list[int]) -> None:
        self.id: int = message["id"]
        self.limits: dict[str, Any] = message["limits"]
        self.box: Box
        self.started = False
        self.reason = ""  # set once the spawner has decided to end it
        self.failure: dict[str, Any] | None = None  # set if it never came to run
        self._message = message
        self._fds = fds
        self._cpu_ms = 0.0
        self._memory_peak_kb = 0
        self._files_before_kb = 0
        self._signals: list[int] = []  # that it has yet to get
        self._ledger = sampling.CpuLedger()
        self._since = time.monotonic()  # of its start, once it has
        self._deadline = self._since + _SETUP_SECONDS
        self._next_check = self._deadline

    @property
    def wakes_at(self) -> float:
        if self.reason or self.failure:
            return math.inf  # its end is under way
        return min(self._deadline, self._next_check)

    def begin(self) -> None:
        """The box is ready: give it the job."""
        box = self.box
        *stdio, workspace = self._fds
        box.fill(workspace)
        self._files_before_kb = box.files_kb()  # what the caller brought is not the program's
        self._since = time.monotonic()  # now: a short program is over before this can look again
        box.assign(self._job(), stdio)
        self.started = True
        self._deadline = self._since + float(self.limits["wall_ms"]) / 1000
        self._next_check = self._since + (_LOOK_EVERY if box.cgroup else _SAMPLE_EVERY)
        self.close_fds()
        self._deliver()

    def signal(self, number: object) -> None:
        """Send the program one, as soon as it is there. What it has not got yet comes once, however
        often it was sent."""
        if protocol.is_signal(number) and number not in self._signals:
            self._signals.append(number)
        if self.started:
            self._deliver()

    def _deliver(self) -> None:
        while self._signals and self.box.signal(self._signals[0]):
            del self._signals[0]
        if self._signals:
            self._next_check = min(self._next_check, time.monotonic() + _UNTIL_IT_IS_THERE)

    def _job(self) -> protocol.Job:
        limits = self.limits
        address_space, cpu_ms = limits["address_space_mb"], limits["cpu_ms"]
        return protocol.Job(
            argv=self._message["argv"],
            env=self._message["env"],
            open_files=at_most(resource.RLIMIT_NOFILE, self.box.open_files),
            address_space=at_most(resource.RLIMIT_AS, address_space << 20) if address_space else -1,
            # A backstop for one process; we watch the whole tree, and are more exact.
            cpu_seconds=at_most(resource.RLIMIT_CPU, int(cpu_ms) // 1000 + 2) if cpu_ms else -1,
            terminal=bool(self._message.get("terminal")),
        )

    def close_fds(self) -> None:
        for fd in self._fds:
            os.close(fd)
        self._fds = []

    def end(self, reason: str) -> None:
        """End the box. The first reason stands."""
        if not self.reason:
            self.reason = reason
            if self.started and self.box.cgroup is None:
                self._sample()  # the last chance to learn what it used
        self.box.kill()

    def is_overdue(self, now: float) -> bool:
        return now >= self._deadline

    def never_ready(self, why: str) -> None:
        """The box has died before it could be given the job."""
        if self.box.cgroup is not None and self.box.cgroup.out_of_memory():
            self.end("memory")  # too little even for an interpreter that waits
        else:
            self.fail("engine", why)

    def fail(self, kind: str, message: str) -> None:
        """It cannot be run after all."""
        self.failure = self.failure or {"op": "failed", "kind": kind, "message": message}
        self.box.kill()

    def check(self, now: float) -> None:
        """Look at clock and meters; end the box if it used too much."""
        self._next_check = now + _LOOK_EVERY
        if self.reason or self.failure:
            return
        if not self.started:
            self.fail("engine", f"the box was not ready within {_SETUP_SECONDS:.0f} s")
        elif breach := self._breach(now):
            self.end(breach)
        else:
            self._deliver()

    def _breach(self, now: float) -> str:
        if now >= self._deadline:
            return "wall_time"
        if self._holds_too_many_locks():
            return "memory"
        return self._sampled_breach(now) if self.box.cgroup is None else self._metered_breach(now)

    def _holds_too_many_locks(self) -> bool:
        holders = sampling.lock_holders(_MANY_LOCKS)
        if not holders:
            return False
        ours = set(sampling.tree(self.box.pid))
        return sum(holder in ours for holder in holders) > _MANY_LOCKS // 2

    def _metered_breach(self, now: float) -> str:
        cgroup = self.box.cgroup
        assert cgroup is not None
        if cgroup.hit_process_limit():
            return "processes"
        if self.limits["cpu_ms"]:
            left = self.limits["cpu_ms"] - (cgroup.cpu_ms() - self.box.cpu_before_ms)
            if left <= 0:
                return "cpu_time"
            soonest = left / 1000 / (os.cpu_count() or 1)
            self._next_check = now + min(_LOOK_EVERY, max(_CPU_CHECK_AT_LEAST, soonest))
        return ""

    def _sampled_breach(self, now: float) -> str:
        began = time.thread_time()
        tasks = self._sample()
        pause = (time.thread_time() - began) * _PAUSE_PER_LOOK
        self._next_check = now + min(_LONGEST_PAUSE, max(_SAMPLE_EVERY, pause))
        if self._memory_peak_kb > self.limits["memory_mb"] * 1024:
            return "memory"
        if tasks > self.limits["processes"]:
            return "processes"
        if self.limits["cpu_ms"] and self._cpu_ms >= self.limits["cpu_ms"]:
            return "cpu_time"
        return ""

    def _sample(self) -> int:
        """Update the figures from /proc; returns the number of tasks of the program."""
        pids = sampling.tree(self.box.pid)
        if len(pids) - 1 > self.limits["processes"]:
            return len(pids) - 1  # that is enough to know, and quickly
        own, program = sampling.measure(pids[:1]), sampling.measure(pids[1:])  # process 1 is ours
        files_kb = max(0, self.box.files_kb() - self._files_before_kb)
        sockets_kb = max(0, sampling.sockets(self.box.pid) - _FREE_SOCKETS) * _SOCKET_KB
        memory_kb = program.memory_kb + files_kb + sockets_kb
        if memory_kb > self.limits["memory_mb"] * 1024:
            # Forked processes share pages, and mapped files count in both places: look closer.
            exact = sampling.exact_memory(pids[1:])
            if exact is not None:
                memory_kb = exact.anonymous_kb + max(exact.shared_kb, files_kb) + sockets_kb
        self._memory_peak_kb = max(self._memory_peak_kb, memory_kb)
        waited_for = own.cpu_ms + program.cpu_ms - self.box.cpu_before_ms
        self._cpu_ms = max(self._cpu_ms, waited_for, self._ledger.update(pids[1:]))
        return program.tasks

    def conclude(self, report: dict[str, Any]) -> dict[str, Any]:
        """After the program's end and before the box is closed: the facts, or why there are none.
        The report is empty if the box was ended before it could say anything."""
        if self.failure is not None:
            return self.failure
        if "start_errno" in report:
            return {"op": "failed", **self._why_not_started(report["start_errno"])}
        if "failed" in report:
            return {"op": "failed", "kind": "engine", "message": report["failed"]}
        self._read_meters(report)
        reason = self.reason or self._reason_of_kernel()
        status = report.get("status")
        if not reason and status is None:
            return {"op": "failed", "kind": "engine", "message": "the box was killed from outside"}
        code = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
        if not reason and self._was_larger(report.get("max_rss_kb", 0)):
            reason = "memory"
        if not reason and self.limits["cpu_ms"] and self._cpu_ms > self.limits["cpu_ms"]:
            reason = "cpu_time"  # it was over before the next look
        return {
            "op": "ended",
            "ended_by": reason or ("exit" if code >= 0 else "signal"),
            "exit_code": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "wall_ms": (report.get("ended_at", time.monotonic()) - self._since) * 1000,
            "cpu_ms": self._cpu_ms,
            "memory_peak_kb": self._memory_peak_kb,
            "warm": self.box.zygote is not None,
        }

    def _was_larger(self, largest_kb: int) -> bool:
        """A program may be too quick for a sample, but the kernel remembers how large it was: with
        the files that it had mapped, and these are no memory of its own."""
        most_kb: int = self.limits["memory_mb"] * 1024 + _MAPPED_KB
        return self.box.cgroup is None and largest_kb > most_kb

    def _why_not_started(self, number: int) -> dict[str, str]:
        """Whose trouble it is that the program could not be started."""
        why = os.strerror(number)
        address_space = self.limits["address_space_mb"]
        if number == errno.ENOMEM and address_space:
            too_little = f"{why}: address_space_mb={address_space} is too little"
            return {"kind": "start", "message": too_little}
        return {"kind": "engine" if number in _OUT_OF_SOMETHING else "start", "message": why}

    def _reason_of_kernel(self) -> str:
        cgroup = self.box.cgroup
        if cgroup is None:
            return ""
        if cgroup.out_of_memory():
            return "memory"
        return "processes" if cgroup.hit_process_limit() else ""

    def _read_meters(self, report: dict[str, Any]) -> None:
        largest = report.get("max_rss_kb", 0)
        if self.box.cgroup is not None:
            self._cpu_ms = max(0.0, self.box.cgroup.cpu_ms() - self.box.cpu_before_ms)
            self._memory_peak_kb = self.box.cgroup.memory_peak_kb() or largest
            return
        self._cpu_ms = max(self._cpu_ms, report.get("cpu_ms", 0.0))
        self._memory_peak_kb = self._memory_peak_kb or largest

    def workspace(self) -> int | None:
        """A directory fd of what the program left, if the job asked for it."""
        return self.box.workspace() if self._message["collect"] and self.started else None
