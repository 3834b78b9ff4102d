"""What a tree of processes uses, read from /proc.

For machines without a cgroup to ask. Standard library only and next to no imports, since it runs
in the small processes that look after boxes. Any process may be gone before the next line here
is executed: what cannot be read any more counts as nothing.
"""

from __future__ import annotations

import os

_KCMP, _KCMP_VM = {"x86_64": 312, "aarch64": 272}, 1
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


class Sample:
    """One look at a tree."""

    __slots__ = ("cpu_ms", "memory_kb", "tasks")

    def __init__(self, memory_kb: int, cpu_ms: float, tasks: int) -> None:
        self.memory_kb = memory_kb  # anonymous, shared and swapped out; no mapped files
        self.cpu_ms = cpu_ms  # of the living, and of the dead that the living waited for
        self.tasks = tasks  # processes and threads


class CpuLedger:
    """Cpu time of a tree, those included who vanished without anybody waiting for them."""

    def __init__(self) -> None:
        self._living: dict[tuple[int, bytes], float] = {}
        self._vanished_ms = 0.0

    def update(self, pids: list[int], proc: str = "/proc") -> float:
        """Look again; returns all that was ever seen. A process that lives between two looks
        is not seen."""
        now = {}
        for pid in pids:
            fields = _stat_fields(pid, proc)
            if fields:
                # A pid may come again; with its start time it is unique.
                now[pid, fields[19]] = sum(map(int, fields[11:13])) * _TICK_MS
        gone = self._living.keys() - now.keys()
        self._vanished_ms += sum(self._living[key] for key in gone)
        self._living = now
        return self._vanished_ms + sum(now.values())


def supported(proc: str = "/proc") -> bool:
    """Whether this kernel and this /proc can tell a process's children."""
    return os.path.exists(f"{proc}/self/task/{os.getpid()}/children")


def tree(root_pid: int, proc: str = "/proc") -> list[int]:
    """A process and its descendants, parents before children; empty if it is gone."""
    found, seen = [], {root_pid}
    queue = [root_pid]
    while queue:
        pid = queue.pop()
        children = _children(pid, proc)
        if children is None:
            continue
        found.append(pid)
        # A pid used anew while we look could otherwise lead in circles.
        queue += [child for child in children if child not in seen]
        seen.update(children)
    return found


def children(pid: int, proc: str = "/proc") -> list[int]:
    """None if it is gone."""
    return _children(pid, proc) or []


def sample(root_pid: int, proc: str = "/proc") -> Sample:
    """A fast look at a process and its descendants. Pages that a fork shares count once for
    each process: when the sum looks too high, ask `exact_memory_kb`."""
    return measure(tree(root_pid, proc), proc)


def measure(pids: list[int], proc: str = "/proc") -> Sample:
    """The same for a list of processes."""
    memory_kb, cpu_ms, tasks = 0, 0.0, 0
    for pid in pids:
        memory_kb += _resident_kb(pid, proc)
        cpu, threads = _cpu_and_threads(pid, proc)
        cpu_ms += cpu
        tasks += threads
    return Sample(memory_kb, cpu_ms, tasks)


class Memory:
    """Memory with every shared page counted once."""

    __slots__ = ("anonymous_kb", "shared_kb")

    def __init__(self, anonymous_kb: int, shared_kb: int) -> None:
        self.anonymous_kb = anonymous_kb
        self.shared_kb = shared_kb  # shared memory, files in a tmpfs that are mapped included


def exact_memory(pids: list[int], proc: str = "/proc") -> Memory | None:
    """A slow and exact look: the kernel walks all page tables. None if it cannot be had (an old
    kernel, or a process that may not be looked into)."""
    total = Memory(0, 0)
    for pid in _with_memory_of_their_own(pids):
        place = _living(pid, proc)
        rollup = _read(f"{place}/smaps_rollup")
        if rollup is None:
            if _resident_kb(pid, proc):
                return None
            continue  # gone, or a zombie
        if b"Pss_Anon:" not in rollup:
            return None
        tables = _read(f"{place}/status") or b""
        total.anonymous_kb += _sum_of_fields(tables, (b"VmPTE:",))
        total.anonymous_kb += _sum_of_fields(rollup, (b"Pss_Anon:", b"SwapPss:"))
        total.shared_kb += _sum_of_fields(rollup, (b"Pss_Shmem:",))
    return total


def _with_memory_of_their_own(pids: list[int]) -> list[int]:
    """One process for each memory map: vfork() and clone() can make several that share one, as
    every start of a subprocess does for a moment."""
    import ctypes  # only who looks closer pays for these
    from functools import cmp_to_key

    libc = ctypes.CDLL(None)
    call = _KCMP.get(os.uname().machine, -1)

    def compare(pid: int, other: int) -> int:
        """Who may not be looked at keeps the order of the numbers."""
        order = int(libc.syscall(ctypes.c_long(call), pid, other, _KCMP_VM, 0, 0))
        return {0: 0, 1: -1, 2: 1}.get(order, pid - other)

    first_of: list[int] = []
    for pid in sorted(pids, key=cmp_to_key(compare)):
        if not first_of or compare(first_of[-1], pid) != 0:
            first_of.append(pid)
    return first_of


def lock_holders(many: int, proc: str = "/proc") -> list[int]:
    """Who holds the newest `many` locks on parts of files, one entry for each lock. Nobody, if
    the whole machine has fewer. No more than that is read: each next part takes the kernel longer
    than the one before."""
    try:
        with open(f"{proc}/locks", "rb", buffering=1 << 16) as file:
            lines = [line for _, line in zip(range(many), file, strict=False)]
    except OSError:
        return []
    holders = [line.split(None, 5)[4:5] for line in lines] if len(lines) == many else []
    return [int(holder[0]) for holder in holders if holder and holder[0].isdigit()]


def exact_memory_kb(pids: list[int], proc: str = "/proc") -> int | None:
    """The same as one number."""
    exact = exact_memory(pids, proc)
    return None if exact is None else exact.anonymous_kb + exact.shared_kb


def _children(pid: int, proc: str) -> list[int] | None:
    """The children of all threads of a process, or None if it is gone."""
    try:
        threads = os.listdir(f"{proc}/{pid}/task")
    except OSError:
        return None
    children: list[int] = []
    for thread in threads:
        listed = _read(f"{proc}/{pid}/task/{thread}/children")
        if listed:
            children += map(int, listed.split())
    return children


def _living(pid: int, proc: str) -> str:
    """Where to read about the memory of a process. Its first thread may have ended, and then it is
    only the others who can tell."""
    place = f"{proc}/{pid}"
    if b"\nState:\tZ" not in (_read(f"{place}/status") or b""):
        return place
    try:
        threads = os.listdir(f"{place}/task")
    except OSError:
        return place
    others = (f"{place}/task/{thread}" for thread in threads if thread != str(pid))
    return next((other for other in others if _read(f"{other}/status")), place)


def _resident_kb(pid: int, proc: str) -> int:
    status = _read(f"{proc}/{pid}/status")
    if status is not None and b"\nState:\tZ" in status:
        status = _read(f"{_living(pid, proc)}/status")
    if status is None:
        return 0
    return _sum_of_fields(status, (b"RssAnon:", b"RssShmem:", b"VmSwap:", b"VmPTE:"))


def _cpu_and_threads(pid: int, proc: str) -> tuple[float, int]:
    fields = _stat_fields(pid, proc)
    if not fields:
        return 0.0, 0
    ticks = sum(map(int, fields[11:15]))  # utime, stime, and both of the children waited for
    return ticks * _TICK_MS, int(fields[17])


def _stat_fields(pid: int, proc: str) -> list[bytes]:
    """The fields of /proc/<pid>/stat from the third on; none if it is gone."""
    stat = _read(f"{proc}/{pid}/stat") or b""
    # The name comes second, in parentheses, and may itself contain spaces and parentheses.
    return stat[stat.rfind(b")") + 2 :].split()


def sockets(pid: int, proc: str = "/proc") -> int:
    """How many sockets there are in a process's network namespace."""
    found = (_read(f"{proc}/{pid}/net/sockstat") or b"").split(None, 3)
    return int(found[2]) if len(found) > 2 and found[2].isdigit() else 0


def _sum_of_fields(text: bytes, names: tuple[bytes, ...]) -> int:
    """The sum of lines like `RssAnon:      1234 kB`; a line that is not there counts as 0."""
    total = 0
    for name in names:
        start = text.find(b"\n" + name)
        if start >= 0:
            total += int(text[start + 1 + len(name) :].split(None, 1)[0])
    return total


def _read(path: str) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        chunks = []
        while chunk := os.read(fd, 65536):
            chunks.append(chunk)
        return b"".join(chunks)
    except OSError:  # it died between the two calls
        return None
    finally:
        os.close(fd)
