"""The meters: one cgroup per box for memory, processes and cpu, in either version's words.

Where a cgroup can be made at all is the business of `cgroup_place.py`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import NamedTuple

from .controls import read, write


class Meters(NamedTuple):
    """What to hold a box to. `cpus` is a throttle in cores, None for none."""

    memory_bytes: int
    processes: int
    cpus: float | None


class Cgroup:
    """One box's cgroup: the directory of each controller, which may be one and the same."""

    entrance: str
    memory_limit: str  # the control file

    def __init__(self, directories: Mapping[str, str]) -> None:
        self._directories = directories
        # The throttle's own hierarchy on v1 is made only when it is needed.
        needed = (path for controller, path in directories.items() if controller != "cpu")
        self.directories = tuple(dict.fromkeys(needed))

    def make(self) -> None:
        for directory in self.directories:
            os.mkdir(directory, 0o755)

    def file(self, name: str) -> str:
        """The path of a control file: `memory.max` belongs to the controller `memory`."""
        return f"{self._directories[name.partition('.')[0]]}/{name}"

    def entrances(self) -> list[int]:
        """An open file for each hierarchy; a process that writes 0 to each has moved in."""
        return [
            os.open(f"{directory}/{self.entrance}", os.O_WRONLY | os.O_CLOEXEC)
            for directory in self.directories
        ]

    def holds(self, meters: Meters) -> bool:
        """Whether the kernel has really taken these figures."""
        memory, processes = read(self.file(self.memory_limit)), read(self.file("pids.max"))
        return (memory.strip(), processes.strip()) == (
            str(meters.memory_bytes),
            str(meters.processes),
        )

    def hit_process_limit(self) -> bool:
        return keyed(self.file("pids.events")).get("max", 0) > 0

    def remove(self) -> None:
        for directory in self.directories:
            remove_directory(directory)

    def limit(self, meters: Meters) -> None:
        """Hold whatever comes in here to these figures."""
        raise NotImplementedError

    def cpu_ms(self) -> float:
        raise NotImplementedError

    def memory_peak_kb(self) -> int:
        raise NotImplementedError

    def out_of_memory(self) -> bool:
        """Whether the kernel had to kill something in here for want of memory."""
        raise NotImplementedError

    def watch_memory(self) -> int | None:
        """An fd that becomes readable when memory runs out, where the kernel does not end the
        whole box by itself."""
        raise NotImplementedError


class CgroupV1(Cgroup):
    # Moving one thread is quick. Moving a process waits for all others to come by, for
    # milliseconds; and process 1 has one thread only.
    entrance = "tasks"
    memory_limit = "memory.limit_in_bytes"

    def limit(self, meters: Meters) -> None:
        write(self.file(self.memory_limit), meters.memory_bytes)
        swap = self.file("memory.memsw.limit_in_bytes")
        if os.path.exists(swap):  # absent where the kernel does not count swap
            write(swap, meters.memory_bytes)
        # Without a limit of their own, v1 does not count the buffers of sockets at all.
        sockets = self.file("memory.kmem.tcp.limit_in_bytes")
        if os.path.exists(sockets):
            write(sockets, meters.memory_bytes // 4)
        write(self.file("pids.max"), meters.processes)
        if meters.cpus is not None:
            self._throttle(meters.cpus)

    def _throttle(self, cpus: float) -> None:
        """The hierarchy for it is one more to make and to remove, so only who throttles pays."""
        directory = self._directories["cpu"]
        if directory not in self.directories:
            os.mkdir(directory, 0o755)
            self.directories += (directory,)
        write(self.file("cpu.cfs_period_us"), 100_000)
        write(self.file("cpu.cfs_quota_us"), max(1000, int(100_000 * cpus)))

    def cpu_ms(self) -> float:
        return int(read(self.file("cpuacct.usage"))) / 1e6

    def memory_peak_kb(self) -> int:
        return int(read(self.file("memory.max_usage_in_bytes"))) // 1024

    def out_of_memory(self) -> bool:
        return keyed(self.file("memory.oom_control")).get("oom_kill", 0) > 0

    def watch_memory(self) -> int | None:
        event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        control = os.open(self.file("memory.oom_control"), os.O_RDONLY | os.O_CLOEXEC)
        try:
            write(self.file("cgroup.event_control"), f"{event} {control}")
        finally:
            os.close(control)
        return event


class CgroupV2(Cgroup):
    entrance = "cgroup.procs"
    memory_limit = "memory.max"

    def limit(self, meters: Meters) -> None:
        write(self.file(self.memory_limit), meters.memory_bytes)
        swap = self.file("memory.swap.max")
        if os.path.exists(swap):
            write(swap, 0)
        write(self.file("memory.oom.group"), 1)
        write(self.file("pids.max"), meters.processes)
        if meters.cpus is not None:
            write(self.file("cpu.max"), f"{max(1000, int(100_000 * meters.cpus))} 100000")

    def cpu_ms(self) -> float:
        return keyed(self.file("cpu.stat")).get("usage_usec", 0) / 1e3

    def memory_peak_kb(self) -> int:
        peak = self.file("memory.peak")  # since Linux 5.19
        return int(read(peak)) // 1024 if os.path.exists(peak) else 0

    def out_of_memory(self) -> bool:
        return keyed(self.file("memory.events")).get("oom_kill", 0) > 0

    def watch_memory(self) -> int | None:
        return None  # memory.oom.group


def remove_directory(directory: str, patience_ms: int = 500) -> None:
    """Remove a cgroup; the kernel may need a moment after the last process is gone."""
    deadline = time.monotonic() + patience_ms / 1000
    while True:
        try:
            os.rmdir(directory)
            return
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() >= deadline:
                return  # still busy: the sweep of the next start takes it
            time.sleep(0.001)


def keyed(path: str) -> dict[str, int]:
    """A file of `name number` lines."""
    try:
        pairs = (line.split() for line in read(path).splitlines())
        return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
    except FileNotFoundError:
        return {}
