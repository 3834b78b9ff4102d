"""One box as the spawner sees it: what it watches, when it ends it, and what it says of the end."""

from __future__ import annotations

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
_CPU_CHECK_AT_LEAST = 0.005


@dataclass
class RunningBox:
    id: int
    pid: int
    pidfd: int
    status: int  # read end of the pipe that process 1 reports into
    scratch: int
    cgroup: Cgroup | None
    memory_event: int | None
    limits: dict[str, Any]
    collect: bool
    slot: int
    born: float = field(default_factory=time.monotonic)
    reason: str = ""  # set once the spawner has decided to end it
    next_check: float = 0.0
    cpu_ms: float = 0.0
    memory_peak_kb: int = 0

    @property
    def deadline(self) -> float:
        return self.born + float(self.limits["wall_ms"]) / 1000

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
        if self.reason:
            self.next_check = now + 1.0
            return
        breach = self._breach(now)
        if breach:
            self.end(breach)

    def _breach(self, now: float) -> str:
        if now >= self.deadline:
            return "wall_time"
        if now < self.next_check:
            return ""
        return self._sampled_breach(now) if self.cgroup is None else self._metered_breach(now)

    def _metered_breach(self, now: float) -> str:
        assert self.cgroup is not None
        if self.cgroup.hit_process_limit():
            return "processes"
        self.next_check = now + 0.05
        if self.limits["cpu_ms"]:
            left = self.limits["cpu_ms"] - self.cgroup.cpu_ms()
            if left <= 0:
                return "cpu_time"
            soonest = left / 1000 / (os.cpu_count() or 1)
            self.next_check = now + min(0.05, max(_CPU_CHECK_AT_LEAST, soonest))
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
        report = self._read_report()
        if "not_started" in report:
            return {"op": "failed", "kind": "start", "message": report["not_started"]}
        if "failed" in report:
            return {"op": "failed", "kind": "engine", "message": report["failed"]}
        self._read_meters(report)
        reason = self.reason or self._reason_of_kernel()
        status = report.get("status")
        if not reason and status is None:
            return {"op": "failed", "kind": "engine", "message": "the box was killed from outside"}
        code = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXCPU and self.limits["cpu_ms"]:
            reason = reason or "cpu_time"
        return {
            "op": "ended",
            "ended_by": reason or ("exit" if code >= 0 else "signal"),
            "exit_code": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "wall_ms": report.get("wall_ms", (time.monotonic() - self.born) * 1000),
            "cpu_ms": self.cpu_ms,
            "memory_peak_kb": self.memory_peak_kb,
        }

    def _reason_of_kernel(self) -> str:
        if self.cgroup is None:
            # Too quick for a sample, but the kernel remembers how large a process was.
            return "memory" if self.memory_peak_kb > self.limits["memory_mb"] * 1024 else ""
        if self.cgroup.out_of_memory():
            return "memory"
        return "processes" if self.cgroup.hit_process_limit() else ""

    def _read_meters(self, report: dict[str, Any]) -> None:
        if self.cgroup is not None:
            self.cpu_ms = self.cgroup.cpu_ms()
            self.memory_peak_kb = self.cgroup.memory_peak_kb() or report.get("max_rss_kb", 0)
        else:
            self.cpu_ms = max(self.cpu_ms, report.get("cpu_ms", 0.0))
            # The figure is never below the size of process 1, whose clone the program was.
            largest = report.get("max_rss_kb", 0)
            if largest > report.get("own_rss_kb", 0) or not self.memory_peak_kb:
                self.memory_peak_kb = max(self.memory_peak_kb, largest)

    def _read_report(self) -> dict[str, Any]:
        """Everything process 1 said, put together. It is dead, so one read gets it all."""
        report: dict[str, Any] = {}
        for line in os.read(self.status, 65536).splitlines():
            report.update(json.loads(line))
        return report

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
