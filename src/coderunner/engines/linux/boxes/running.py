"""One box as the spawner sees it: what it watches, when it ends it, and what it says of the end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from dataclasses import dataclass, field
from typing import Any

from . import sampling
from .cgroups import Cgroup

# Sampling must see a leak before it hurts; page faults fill some 20 MB in this time.
_SAMPLE_EVERY = 0.01
_LOOK_EVERY = 0.05
_CPU_CHECK_AT_LEAST = 0.005
_SETUP_SECONDS = 30.0


@dataclass
class RunningBox:
    id: int
    pid: int
    pidfd: int
    status: int  # read end of the pipe that process 1 reports into, non-blocking
    scratch: int
    cgroup: Cgroup | None
    memory_event: int | None
    limits: dict[str, Any]
    collect: bool
    slot: int
    born: float = field(default_factory=time.monotonic)
    started: float | None = None  # when the program itself began, once we know
    reason: str = ""  # set once the spawner has decided to end it
    next_check: float = 0.0
    cpu_ms: float = 0.0
    memory_peak_kb: int = 0
    report: dict[str, Any] = field(default_factory=dict)  # what process 1 said so far

    @property
    def deadline(self) -> float:
        if self.started is not None:
            return self.started + float(self.limits["wall_ms"]) / 1000
        return self.born + min(_SETUP_SECONDS, float(self.limits["wall_ms"]) / 1000)

    @property
    def wakes_at(self) -> float:
        return min(self.deadline, self.next_check)

    def watched(self) -> list[int]:
        """The descriptors whose readiness means something happened in the box."""
        return [fd for fd in (self.pidfd, self.memory_event) if fd is not None]

    def end(self, reason: str) -> None:
        """Kill process 1, and with it the box. The first reason stands."""
        if not self.reason:
            self.reason = reason
            if self.cgroup is None:
                self._sample()  # the last chance to learn what it used
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def check(self, now: float) -> None:
        """Look at clock and meters; end the box if it used too much."""
        self.next_check = now + _LOOK_EVERY
        if not self.reason and (breach := self._breach(now)):
            self.end(breach)

    def _breach(self, now: float) -> str:
        if now >= self.deadline:
            # The program's time starts when it does, not when its box is being set up.
            self._read_report()
            if self.started is None:
                return "setup" if now >= self.born + _SETUP_SECONDS else ""
            if now >= self.deadline:
                return "wall_time"
        return self._metered_breach(now) if self.cgroup else self._sampled_breach(now)

    def _metered_breach(self, now: float) -> str:
        assert self.cgroup is not None
        if self.cgroup.hit_process_limit():
            return "processes"
        if self.limits["cpu_ms"]:
            left = self.limits["cpu_ms"] - self.cgroup.cpu_ms()
            if left <= 0:
                return "cpu_time"
            soonest = left / 1000 / (os.cpu_count() or 1)
            self.next_check = now + min(_LOOK_EVERY, max(_CPU_CHECK_AT_LEAST, soonest))
        return ""

    def _sampled_breach(self, now: float) -> str:
        self.next_check = now + _SAMPLE_EVERY
        tasks = self._sample()
        if self.memory_peak_kb > self.limits["memory_mb"] * 1024:
            return "memory"
        if tasks > self.limits["processes"]:
            return "processes"
        if self.limits["cpu_ms"] and self.cpu_ms >= self.limits["cpu_ms"]:
            return "cpu_time"
        return ""

    def _sample(self) -> int:
        """Update the figures from /proc; returns the number of tasks of the program."""
        pids = sampling.tree(self.pid)
        own, program = sampling.measure(pids[:1]), sampling.measure(pids[1:])  # process 1 is ours
        usage = os.fstatvfs(self.scratch)
        files_kb = (usage.f_blocks - usage.f_bfree) * usage.f_frsize // 1024
        memory_kb = program.memory_kb + files_kb
        if memory_kb > self.limits["memory_mb"] * 1024:
            # Forked processes share pages, and mapped files count in both places: look closer.
            exact = sampling.exact_memory(pids[1:])
            if exact is not None:
                memory_kb = exact.anonymous_kb + max(exact.shared_kb, files_kb)
        self.memory_peak_kb = max(self.memory_peak_kb, memory_kb)
        self.cpu_ms = max(self.cpu_ms, own.cpu_ms + program.cpu_ms)
        return program.tasks

    def conclude(self) -> dict[str, Any]:
        """After process 1 was reaped: the facts, or why there are none."""
        self._read_report()
        failure = self._failure()
        if failure:
            return failure
        self._read_meters()
        reason = self.reason or self._reason_of_kernel()
        status = self.report.get("status")
        if not reason and status is None:
            return _failed("engine", "the box was killed from outside")
        code = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXCPU and self.limits["cpu_ms"]:
            reason = reason or "cpu_time"
        began = self.born if self.started is None else self.started
        return {
            "op": "ended",
            "ended_by": reason or ("exit" if code >= 0 else "signal"),
            "exit_code": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "wall_ms": self.report.get("wall_ms", (time.monotonic() - began) * 1000),
            "cpu_ms": self.cpu_ms,
            "memory_peak_kb": self.memory_peak_kb,
        }

    def _failure(self) -> dict[str, Any] | None:
        if "not_started" in self.report:
            return _failed("start", self.report["not_started"])
        if "failed" in self.report:
            return _failed("engine", self.report["failed"])
        if self.reason == "setup":
            return _failed("engine", f"it was not ready within {_SETUP_SECONDS:.0f} s")
        return None

    def _reason_of_kernel(self) -> str:
        if self.cgroup is None:
            # Too quick for a sample, but the kernel remembers how large a process was.
            return "memory" if self.memory_peak_kb > self.limits["memory_mb"] * 1024 else ""
        if self.cgroup.out_of_memory():
            return "memory"
        return "processes" if self.cgroup.hit_process_limit() else ""

    def _read_meters(self) -> None:
        report = self.report
        largest = report.get("max_rss_kb", 0)
        if self.cgroup is not None:
            # What process 1 itself used in there is not the program's.
            self.cpu_ms = max(0.0, self.cgroup.cpu_ms() - report.get("own_cpu_ms", 0.0))
            self.memory_peak_kb = self.cgroup.memory_peak_kb() or largest
            return
        self.cpu_ms = max(self.cpu_ms, report.get("cpu_ms", 0.0))
        # The figure is never below the size of process 1, whose clone the program was.
        if largest > report.get("own_rss_kb", 0) or not self.memory_peak_kb:
            self.memory_peak_kb = max(self.memory_peak_kb, largest)

    def _read_report(self) -> None:
        """Take what process 1 has said. Its lines are short, so each arrives in one piece."""
        with contextlib.suppress(BlockingIOError):
            for line in os.read(self.status, 65536).splitlines():
                self.report.update(json.loads(line))
        self.started = self.report.get("started", self.started)

    def workspace(self) -> int | None:
        """A directory fd of what the program left, if the job asked for it."""
        if not self.collect:
            return None
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open("workspace", flags, dir_fd=self.scratch)

    def close(self) -> None:
        for fd in (self.pidfd, self.status, self.scratch, self.memory_event):
            if fd is not None:
                os.close(fd)
        if self.cgroup is not None:
            self.cgroup.remove()


def _failed(kind: str, message: str) -> dict[str, Any]:
    return {"op": "failed", "kind": kind, "message": message}
