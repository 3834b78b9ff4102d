"""Runs Python code in somebody's container, and ends it with all that it started.

    python3 -c <this file> run TOKEN      first line of stdin: seconds and size, then the code
    python3 -c <this file> end TOKEN      ends such a run from outside

The container may have little more than an interpreter, so this needs little more.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

VARIABLE = "CODERUNNER_RUN"
_LONGEST_ARGUMENT = 128 * 1024 - 1
_PR_SET_CHILD_SUBREAPER = 36
_OOM_COUNTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
_ENDING_S = 5.0
_ENOUGH = 3


def run(token: str) -> None:
    started = time.monotonic()
    seconds, size = map(float, _line().split())
    code = _read(int(size))
    oom_kills = _oom_kills()
    _adopt_orphans()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    try:
        child = _start(code, token)
    except OSError as error:  # no more processes, mostly
        _say(token, "failed", str(error))
        return
    status = _wait(child, woken, started + seconds)
    timed_out = status is None and time.monotonic() >= started + seconds
    end(token)
    if status is None:
        status = signal.SIGKILL
    killed = _oom_kills() > oom_kills
    _say(token, os.waitstatus_to_exitcode(status), int(timed_out), int(killed))


def _say(*words: object) -> None:
    os.write(2, " ".join(map(str, words)).encode())


def end(token: str) -> None:
    """Kill until nobody is left. Whoever keeps the variable is known by it, or by our own pipes;
    the others by their parents. Orphans are children of the run's first process."""
    until = time.monotonic() + _ENDING_S
    seen_none = 0  # times in a row: who is just being started while its parent ends is overlooked
    while time.monotonic() < until and seen_none < _ENOUGH:
        found = _found(token)
        seen_none = 0 if found or not _all_reaped() else seen_none + 1
        for how in (signal.SIGSTOP, signal.SIGKILL):  # who is stopped starts no others
            for pid in found:
                _kill(pid, how)
        _reap()
        time.sleep(0.002)


def _wait(child: int, woken: int, deadline: float) -> int | None:
    """Its status; None if it is to be ended: it is late, or who asked for it is gone."""
    while (left := deadline - time.monotonic()) > 0:
        ready = select.select([0, woken], [], [], left)[0]
        if woken in ready:
            os.read(woken, 4096)
            statuses = _reap()
            if child in statuses:
                return statuses[child]
        elif ready:
            return None
    return None


def _start(code: bytes, token: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        _become(code, token)
    finally:
        os._exit(126)


def _become(code: bytes, token: str) -> NoReturn:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for kind in (signal.SIGPIPE, signal.SIGXFSZ):  # an interpreter ignores them
        signal.signal(kind, signal.SIG_DFL)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as adjustment:
        adjustment.write("1000")  # if memory is short, it is this one's
    if len(code) > _LONGEST_ARGUMENT:
        file = os.memfd_create("code")
        os.write(file, code)
        os.lseek(file, 0, os.SEEK_SET)
        command = [sys.executable, "-"]
    else:
        file = os.open("/dev/null", os.O_RDONLY)
        command = [sys.executable, "-c", os.fsdecode(code)]
    os.dup2(file, 0)
    os.closerange(3, 64)
    os.execve(sys.executable, command, {**os.environ, VARIABLE: token})  # noqa: S606 - as all else


def _adopt_orphans() -> None:
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass  # then only what they carry tells whose they are


def _found(token: str) -> list[int]:
    """All that belong to a run, but for this process."""
    parents = {int(name): _parent(name) for name in os.listdir("/proc") if name.isdigit()}
    mark, pipes = f"{VARIABLE}={token}".encode(), _outputs(os.getpid())
    ours = {os.getpid()}
    for pid in parents:
        if mark in _environment(pid) or not pipes.isdisjoint(_outputs(pid)):
            ours.add(pid)
    while True:
        more = {pid for pid, parent in parents.items() if parent in ours} - ours
        if not more:
            break
        ours |= more
    alive = {pid for pid in ours if parents[pid] is not None}
    return sorted(alive - {os.getpid()}, reverse=True)


def _parent(pid: str) -> int | None:
    """None for one that is gone, or as good as that."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return None if state in (b"Z", b"X") else int(parent)


def _environment(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read(1 << 20).split(b"\0")
    except OSError:
        return []


def _outputs(pid: int) -> set[str]:
    found: set[str] = set()
    for fd in (1, 2):
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return {link for link in found if link.startswith("pipe:")}


def _kill(pid: int, how: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, how)


def _reap() -> dict[int, int]:
    statuses: dict[int, int] = {}
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return statuses
            statuses[pid] = status
    except ChildProcessError:
        return statuses


def _all_reaped() -> bool:
    """Nobody else may do it: many containers have a first process that does not care."""
    _reap()
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _oom_kills() -> int:
    for path in _OOM_COUNTS:
        try:
            with open(path) as file:
                counts = dict(line.split() for line in file if len(line.split()) == 2)
            return int(counts.get("oom_kill", 0))
        except (OSError, ValueError):
            continue
    return 0


def _line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        line += _read(1)
    return line


def _read(size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = os.read(0, min(size, 1 << 20))
        if not part:
            os._exit(125)  # who asked for it is gone
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


if __name__ == "__main__":
    (run if sys.argv[1] == "run" else end)(sys.argv[2])
