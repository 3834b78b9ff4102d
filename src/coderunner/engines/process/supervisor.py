"""The process between the caller and the program. Run as a script, one per job:

    python -I -S supervisor.py <control fd> <report fd> <order fd>

Why it exists. The caller may have threads, so it must not run Python between fork and exec; this
process has none, so it may. It is the subreaper of everything below it: a daemon that forks twice
and calls setsid still ends up as its child, and is found. And it watches the tree without
costing the caller's event loop anything.

    order    a marshalled dict, read once: argv, env, cwd, limits
    control  bytes: signals for the program, by their numbers. Its end (the caller wants the run
             dead, or died) ends the run
    report   lines: `failed <errno>`, or `started` and then
             `ended <why> <exit code> <wall us> <cpu us> <memory peak kb>`

Everything below it is dead before it says `ended`. Only a program that attacks this process
itself (it runs as the same user) can get away.
"""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False  # `typing` itself would take longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any

if TYPE_CHECKING or __name__ != "__main__":
    from coderunner.engines.linux.boxes import sampling
else:  # as a script, where there is no package
    sys.path.append(os.path.join(os.path.dirname(__file__), "../linux/boxes"))
    import sampling

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
FIRST_LOOK_S, LOOK_EVERY_S = 0.001, 0.010
# RLIMIT_NPROC counts everything of this user, also what others start later. It is only there to
# stop a bomb between two looks, so it keeps well away from where it would hit an innocent.
NPROC_HEADROOM = 1024


def main() -> None:
    control, report, order_fd = map(int, sys.argv[1:])
    for fd in (control, report):
        os.set_inheritable(fd, False)
    with open(order_fd, "rb") as file:
        order: dict[str, Any] = marshal.load(file)  # noqa: S302 (our own caller wrote it)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    take_precedence()
    started = time.monotonic()
    pid, error = start(order)
    if error:
        os.write(report, b"failed %d\n" % error)
        return
    os.write(report, b"started\n")
    watch = Watch(pid, order, started)
    why = watch.until_end(control)
    watch.end_tree()
    wall_us = int((time.monotonic() - started) * 1e6)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The largest process catches what happened between two looks. It starts as a copy of this
    # process, so a peak below our own 9 MB cannot be told.
    peak_kb = max(watch.peak_kb, used.ru_maxrss)
    cpu_us = int((used.ru_utime + used.ru_stime) * 1e6)
    code = os.waitstatus_to_exitcode(watch.status or 0)
    largest_kb = grown_to(used.ru_maxrss)
    line = f"ended {reason(why, code, order, largest_kb)} {code} {wall_us} {cpu_us} {peak_kb}\n"
    os.write(report, line.encode())


def prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def take_precedence() -> None:
    """Against a fork bomb of root, which no RLIMIT_NPROC holds, we must not wait for our turn."""
    try:
        policy = os.SCHED_RR | os.SCHED_RESET_ON_FORK  # ours alone, not the program's
        os.sched_setscheduler(0, policy, os.sched_param(1))
    except OSError:
        pass  # an ordinary user may not, and has the RLIMIT_NPROC


def grown_to(largest_kb: int) -> int:
    """How large a process of the program's became, or nothing if that is our own size."""
    return largest_kb if largest_kb > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss else 0


def reason(why: str, code: int, order: dict[str, Any], largest_kb: int) -> str:
    """What ended it: us, unless it was faster. Then the kernel remembers what it had."""
    if why and code == -signal.SIGKILL:
        return why
    if largest_kb > order["memory_kb"]:
        return "memory"
    if code == -signal.SIGXCPU and order["cpu_ms"]:
        return "cpu_time"  # it was its RLIMIT_CPU
    return "signal" if code < 0 else "exit"


def start(order: dict[str, Any]) -> tuple[int, int]:
    """Fork and exec the program; its pid, and the errno if that failed."""
    failed_r, failed_w = os.pipe()  # closed by a successful exec
    pid = os.fork()
    if pid == 0:
        try:
            become(order)
        except OSError as error:
            os.write(failed_w, b"%d" % (error.errno or errno.EINVAL))
        except ValueError:  # an argument that no system call takes
            os.write(failed_w, b"%d" % errno.EINVAL)
        finally:
            os._exit(127)
    os.close(failed_w)
    # Its stdin, stdout and stderr were ours until now: the program alone must hold them.
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    with open(failed_r, "rb") as file:
        return pid, int(file.read() or 0)


def become(order: dict[str, Any]) -> None:
    """Turn this forked child into the program."""
    os.setsid()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # in case something kills us: nobody else would
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.chdir(order["cwd"])
    for kind, soft, hard in order["rlimits"]:
        lower(kind, soft, hard)
    if os.getuid() != 0:  # the kernel exempts root
        most = tasks_of(os.getuid()) + order["tasks"] + NPROC_HEADROOM
        lower(resource.RLIMIT_NPROC, most, most)
    os.execvpe(order["argv"][0], order["argv"], order["env"])  # noqa: S606 (no shell, on purpose)


def lower(kind: int, soft: int, hard: int) -> None:
    """Set a limit, or leave one that is stricter already (an ordinary user cannot raise it)."""
    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def tasks_of(uid: int) -> int:
    """Processes and threads this user has now."""
    count = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # gone
    return count


class Watch:
    """Looks at the tree until it ends or breaks a limit, then ends all of it."""

    def __init__(self, pid: int, order: dict[str, Any], started: float) -> None:
        self.status: int | None = None  # of the program itself
        self.peak_kb = 0
        self._pid = pid
        self._order = order
        self._deadline = started + order["wall_ms"] / 1000

    def until_end(self, control: int) -> str:
        """Why it has to end, or nothing if it did by itself."""
        poll = select.poll()
        poll.register(control, select.POLLIN)
        poll.register(os.pidfd_open(self._pid), select.POLLIN)
        pause = FIRST_LOOK_S
        while True:
            left = self._deadline - time.monotonic()
            events = poll.poll(max(0.0, min(pause, left)) * 1000)
            self._reap()
            if self.status is not None:
                return ""
            if any(fd == control for fd, _ in events) and not self._pass_on(control):
                return "killed"
            if left <= 0:
                return "wall_time"
            looked = time.monotonic()
            if broken := self._look():
                return broken
            # A tree of hundreds takes long to look at: spend no more than a fifth of our time.
            pause = max(min(2 * pause, LOOK_EVERY_S), 4 * (time.monotonic() - looked))

    def _pass_on(self, control: int) -> bool:
        """Signals for the program, which is there until we have reaped it. False at the end."""
        numbers = os.read(control, 64)
        for number in numbers:
            os.kill(self._pid, number)
        return bool(numbers)

    def end_tree(self) -> None:
        """Kill and wait for everything below us, until there is nothing."""
        while self._reap():
            # Stop them first: who is killed while its siblings fork on makes room for more.
            self._signal_all(signal.SIGSTOP)
            self._signal_all(signal.SIGKILL)
            time.sleep(0.0005)

    def _signal_all(self, number: int) -> None:
        """By process group, which the kernel does in one go: no fork gets away meanwhile. Every
        group below us is entirely below us, since the program began with a session of its own."""
        done: set[int] = set()
        while new := {_group(pid) for pid in self._descendants()} - done:
            for group in new:
                _signal_group(group, number)
            done |= new

    def _look(self) -> str:
        """One sample against the limits; which of them is broken, or nothing."""
        pids = self._descendants()
        if len(pids) > self._order["tasks"]:
            return "processes"  # and if it is a bomb, there is no time for a closer look
        now = sampling.measure(pids)
        waited = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_ms = now.cpu_ms + (waited.ru_utime + waited.ru_stime) * 1000
        memory_kb = now.memory_kb
        if memory_kb > self._order["memory_kb"] and len(pids) > 1:
            exact_kb = sampling.exact_memory_kb(pids)
            memory_kb = memory_kb if exact_kb is None else exact_kb
        self.peak_kb = max(self.peak_kb, memory_kb)
        if memory_kb > self._order["memory_kb"]:
            return "memory"
        if self._order["cpu_ms"] and cpu_ms > self._order["cpu_ms"]:
            return "cpu_time"
        if now.tasks > self._order["tasks"]:
            return "processes"
        return ""

    def _descendants(self) -> list[int]:
        return sampling.tree(os.getpid())[1:]

    def _reap(self) -> bool:
        """Collect the dead, orphans too. False once we have no children left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._pid:
                self.status = status


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0  # gone


def _signal_group(group: int, number: int) -> None:
    if group in (0, os.getpgid(0)):
        return
    try:  # noqa: SIM105 (contextlib is an import more)
        os.killpg(group, number)
    except OSError:
        pass  # gone, or setuid and out of our reach: then the caller's patience will end


if __name__ == "__main__":
    main()
