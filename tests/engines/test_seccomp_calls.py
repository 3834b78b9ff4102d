"""The system-call filter, tried by making the calls: every number, every rule, in a real box.

The arguments are chosen so that the kernel itself would give another answer, wherever there is
such a choice. `tests/unit/test_seccomp.py` has the calls for which there is none.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess

import pytest

from coderunner.engines.linux.boxes import seccomp, syscalls
from coderunner.model import EndedBy, Isolation
from tests.engines.bench import PYTHON, Bench
from tests.engines.calls import Call, answers
from tests.support import require_sandbox

pytestmark = pytest.mark.engines

MACHINE = os.uname().machine
TABLE = syscalls.numbers(MACHINE)
LAST = 600  # far beyond the newest call there is
INVALID = (-1 & (1 << 64) - 1,) * 6  # no descriptor, no address, no flags, no process
# Linux lets these two past every filter. They are of no use but to code that the kernel wrote.
UNFILTERED = {335, 336} if MACHINE == "x86_64" else set()  # uretprobe, uprobe

# Bits of an int argument that the kernel does not look at.
JUNK = [0, 1 << 32, 0xDEADBEEF << 32, 0xFFFFFFFF << 32]
junk_above = pytest.mark.parametrize("junk", JUNK, ids=lambda junk: f"{junk >> 32:x}")

on_x86 = pytest.mark.skipif(MACHINE != "x86_64", reason="other machines have no second call table")


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    require_sandbox()


@pytest.fixture
async def metered(linux: Bench) -> bool:
    """Whether there is a cgroup, without which some ways to get memory are closed."""
    return (await linux.engine.capabilities()).isolation is Isolation.FULL


def with_junk(number: int, args: tuple[int | None, ...], junk: int) -> Call:
    return number, [arg if arg is None else arg & 0xFFFFFFFF | junk for arg in args]


def refused_as_unlisted(metered: bool) -> list[int]:
    listed = set(TABLE.values()) | UNFILTERED
    hidden = set() if metered else {TABLE[name] for name in syscalls.UNMETERED_MEMORY}
    return [number for number in range(LAST) if number not in listed or number in hidden]


@junk_above
async def test_what_is_not_on_the_list_is_refused(linux: Bench, metered: bool, junk: int) -> None:
    numbers = refused_as_unlisted(metered)
    found = await answers(linux, ((number | junk, INVALID) for number in numbers))
    assert dict(zip(numbers, found, strict=True)) == dict.fromkeys(numbers, errno.EPERM)


async def test_calls_that_no_filter_sees(linux: Bench) -> None:
    calls = [(number, INVALID) for number in sorted(UNFILTERED)]
    found = await answers(linux, calls, fork=True)
    assert set(found) <= {errno.EPERM, errno.ENXIO, -signal.SIGILL}


async def test_what_is_on_the_list_is_let_through(linux: Bench, metered: bool) -> None:
    """None of these calls answers EPERM to such arguments by itself."""
    closed = set() if metered else {"mmap", *syscalls.UNMETERED_MEMORY}
    names = sorted(TABLE.keys() - syscalls.CHECKED - closed - {"vfork"})
    found = await answers(linux, ((TABLE[name], INVALID) for name in names), fork=True)
    refused = [name for name, answer in zip(names, found, strict=True) if answer == errno.EPERM]
    assert refused == []
    # The rest did what it should, too: it failed, worked or ended its process, but by no SIGSYS.
    assert -signal.SIGSYS not in found


NEW_NAMESPACE = [1 << 17, *(1 << bit for bit in range(25, 31))]
THREAD_ALONE = 0x10000  # CLONE_THREAD without what it needs: EINVAL before anything else
BAD_TYPE = 0x7FFFFF00  # of a socket: EINVAL before the family is looked at
NO_FD, NOBODY = 0xFFFFFFFF, 0xFFFFFFFF
OWN_ID, PROCESS_1, NO_PROCESS = 1000, 1, 99_999
UNLISTED_IOCTLS = sorted(
    {cmd + step for cmd in seccomp.IOCTLS for step in (-1, 1)}
    - {*seccomp.IOCTLS, *seccomp.TERMINAL_INJECTION}
)

Rule = tuple[str, tuple[int | None, ...], int]

# What passes the filter shows in an answer that is the kernel's own.
PERMITTED: list[Rule] = [
    ("clone", (THREAD_ALONE, None, None, None, None), errno.EINVAL),
    ("fcntl", (1, 1), 0),  # F_GETFD
    ("fcntl", (NO_FD, 1025), errno.EBADF),  # F_GETLEASE, between the two that are refused
    *(("socket", (family, BAD_TYPE, 0), errno.EINVAL) for family in (1, 2, 10)),
    *(("socket", (family, BAD_TYPE, protocol), errno.EINVAL) for family in (2, 10)
      for protocol in (6, 17)),
    *(("socket", (family, kind, 0), 0) for family in (1, 2) for kind in (1, 2)),
    ("socketpair", (1, BAD_TYPE, 0, None), errno.EINVAL),
    *(("ioctl", (NO_FD, cmd, None), errno.EBADF) for cmd in seccomp.IOCTLS),
    *(("prctl", (option, None), errno.EFAULT) for option in (2, 15, 16, 40)),  # they read or write
    ("prctl", (36, 0), 0),  # no subreaper
    ("prlimit64", (0, 7, None, None), 0),
    *(("sched_setscheduler", (pid, 0, None), errno.EINVAL) for pid in (0, 2, NO_PROCESS)),
    *(("sched_setattr", (pid, None, 0), errno.EINVAL) for pid in (0, 2, NO_PROCESS)),
    *(("sched_setparam", (pid, None), errno.EINVAL) for pid in (0, 2, NO_PROCESS)),
    ("sched_setaffinity", (NO_PROCESS, 8, None), errno.EFAULT),
    ("setpriority", (0, 0, 19), 0),  # down is always possible
    ("setpriority", (0, NO_PROCESS, 0), errno.ESRCH),
    ("setpriority", (4, 0, 0), errno.EINVAL),
    ("ioprio_set", (1, 0, 0xFFFF), errno.EINVAL),
    ("ioprio_set", (1, NO_PROCESS, 2 << 13), errno.ESRCH),
    *((name, (OWN_ID,), 0) for name in ("setuid", "setgid")),
    *((name, ids, 0) for name in ("setreuid", "setregid")
      for ids in ((OWN_ID, OWN_ID), (NOBODY, OWN_ID), (OWN_ID, NOBODY))),
    *((name, ids, 0) for name in ("setresuid", "setresgid")
      for ids in ((OWN_ID, OWN_ID, OWN_ID), (NOBODY, NOBODY, NOBODY))),
    *(("personality", (kind,), 0) for kind in (0xFFFFFFFF, 0x0040000, 0)),
]  # fmt: skip

EPERM = errno.EPERM
REFUSED: list[Rule] = [
    *(("clone", (flag | THREAD_ALONE, None, None, None, None), EPERM) for flag in NEW_NAMESPACE),
    *(("clone", (flag | signal.SIGCHLD, None, None, None, None), EPERM) for flag in NEW_NAMESPACE),
    ("clone3", (None, 0), errno.ENOSYS),
    ("io_uring_setup", (8, None), errno.ENOSYS),
    ("io_uring_enter", (NO_FD, 0, 0, 0, None, 0), errno.ENOSYS),
    ("io_uring_register", (NO_FD, 0, None, 0), errno.ENOSYS),
    ("inotify_init", (), errno.ENOSYS),
    ("inotify_init1", (0,), errno.ENOSYS),
    ("fcntl", (1, 37, 0), errno.EINVAL),  # locks of an open file; EFAULT without a filter
    ("fcntl", (NO_FD, 1024, 0), EPERM),
    ("fcntl", (NO_FD, 1026, 0), EPERM),
    *(("socket", (family, BAD_TYPE, 0), errno.EAFNOSUPPORT)
      for family in (*range(48), 0xFFFFFFFF) if family not in (1, 2, 10, 16)),
    *(("socket", (family, BAD_TYPE, protocol), errno.EAFNOSUPPORT) for family in (2, 10)
      for protocol in (1, 2, 33, 41, 58, 132, 136, 255, 262, 0xFFFFFFFF)),
    *(("socket", (16, BAD_TYPE, protocol), errno.EOPNOTSUPP)  # netlink
      for protocol in (*range(24), 0xFFFFFFFF)),
    *(("socketpair", (family, BAD_TYPE, 0, None), errno.EAFNOSUPPORT)
      for family in (0, 2, 10, 16, 17, 40, 0xFFFFFFFF)),
    *(("ioctl", (NO_FD, cmd, None), EPERM) for cmd in (0x5412, 0x541C)),
    *(("ioctl", (NO_FD, cmd, None), errno.ENOTTY)
      for cmd in (*UNLISTED_IOCTLS, *seccomp.TERMINAL_IOCTLS, 0, 0xFFFFFFFF)),
    *(("prctl", (option,), errno.EINVAL) for option in (31, 32, 0xFFFFFFFF)),  # perf events
    *(("prlimit64", (pid, 7, None, None), EPERM) for pid in (PROCESS_1, 2, NO_PROCESS)),
    ("sched_setscheduler", (PROCESS_1, 0, None), EPERM),
    ("sched_setattr", (PROCESS_1, None, 0), EPERM),
    ("sched_setparam", (PROCESS_1, None), EPERM),
    ("sched_setaffinity", (PROCESS_1, 8, None), EPERM),
    *((name, whom, EPERM) for name in ("setpriority", "ioprio_set")
      for whom in ((0, PROCESS_1, 0xFFFF), (1, PROCESS_1, 0xFFFF), (2, NO_PROCESS, 0xFFFF),
                   (3, NO_PROCESS, 0xFFFF))),
    *((name, (some_id,), EPERM) for name in ("setuid", "setgid") for some_id in (0, 1, 65_534)),
    *((name, ids, EPERM) for name in ("setreuid", "setregid")
      for ids in ((0, NOBODY), (NOBODY, 0), (1, OWN_ID))),
    *((name, ids, EPERM) for name in ("setresuid", "setresgid")
      for ids in ((0, NOBODY, NOBODY), (NOBODY, 0, NOBODY), (NOBODY, NOBODY, 0))),
    *(("personality", (kind,), EPERM) for kind in (8, 0x0400000, 0x0440000, 0x0800000)),
    ("sync", (), 0),  # it does nothing and says so to nobody
    ("syncfs", (NO_FD,), 0),
]  # fmt: skip


@junk_above
@pytest.mark.parametrize("rules", [PERMITTED, REFUSED], ids=["permitted", "refused"])
async def test_rules_that_look_at_arguments(linux: Bench, rules: list[Rule], junk: int) -> None:
    known = [rule for rule in rules if rule[0] in TABLE]
    found = await answers(linux, (with_junk(TABLE[name], args, junk) for name, args, _ in known))
    wrong = [
        f"{name}{args}: {errno_name(answer)}, not {errno_name(wanted)}"
        for (name, args, wanted), answer in zip(known, found, strict=True)
        if answer != wanted
    ]
    assert wrong == []


def errno_name(number: int) -> str:
    return errno.errorcode.get(number, str(number))


def test_every_rule_is_tried() -> None:
    never = {name for name, _, answer in REFUSED if answer in (0, errno.ENOSYS)}
    assert {name for name, _, _ in REFUSED} == syscalls.CHECKED
    assert {name for name, _, _ in PERMITTED} == syscalls.CHECKED - never
    assert seccomp._checked_rules(()).keys() == syscalls.CHECKED


SHARED, PRIVATE, SHARED_VALIDATE, ANONYMOUS, NO_RESERVE = 0x01, 0x02, 0x03, 0x20, 0x4000


@junk_above
async def test_memory_that_only_a_cgroup_can_count(linux: Bench, metered: bool, junk: int) -> None:
    kinds = (SHARED, SHARED_VALIDATE, SHARED | NO_RESERVE)
    nothing = (None, None, None)  # no length: EINVAL, if the kernel is asked
    shared = [(*nothing, kind | ANONYMOUS, NO_FD) for kind in kinds]
    fine = [(*nothing, kind, NO_FD) for kind in (PRIVATE | ANONYMOUS, PRIVATE, SHARED)]
    calls = [with_junk(TABLE["mmap"], args, junk) for args in (*shared, *fine)]
    found = [errno_name(answer) for answer in await answers(linux, calls)]
    passed = ["EINVAL", "EBADF", "EBADF"]
    assert found == [*(["EINVAL"] if metered else ["EPERM"]) * len(shared), *passed]


RUN_CODE = """
import ctypes, mmap, sys
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
code.write(bytes.fromhex(sys.argv[1]))
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
print("came back" if call() else "nothing")
"""


def python_command(code: str) -> list[str]:
    return [PYTHON, "-I", "-S", "-c", RUN_CODE, code]


@on_x86
async def test_vfork_is_let_through(linux: Bench) -> None:
    # eax = vfork(); in the child exit(0), for it has no stack of its own to return on; return eax
    code = "b83a0000000f0585c07509b83c00000031ff0f05c3"
    outcome = await linux.run(*python_command(code))
    assert outcome.stdout.text == "came back\n", outcome


I386 = {"getpid": 20, "exit": 1, "socketcall": 102, "clone": 120, "unshare": 310, "no call": 9999}


@on_x86
@pytest.mark.parametrize("number", I386.values(), ids=I386)
async def test_calls_by_int_80_kill(linux: Bench, number: int) -> None:
    code = "b8" + number.to_bytes(4, "little").hex() + "cd80" + "c3"
    outcome = await linux.run(*python_command(code))
    wanted = signal.SIGSYS if host_knows_int_80() else signal.SIGSEGV
    assert (outcome.ended_by, outcome.signal) == (EndedBy.SIGNAL, wanted)
    assert outcome.stdout.text == ""


def host_knows_int_80() -> bool:
    """Some kernels are built without it, or have it switched off."""
    getpid = python_command("b814000000cd80c3")
    return subprocess.run(getpid, capture_output=True, check=False).returncode == 0


X32 = [0x40000000, 0x40000027, 0x40000200, 0x40000208, 0x40000222, 0x7FFFFFFF, 0xFFFFFFFF]


@on_x86
@junk_above
async def test_x32_calls_kill(linux: Bench, junk: int) -> None:
    found = await answers(linux, ((number | junk, ()) for number in X32), fork=True)
    assert found == [-signal.SIGSYS] * len(X32)


@on_x86
async def test_a_killing_call_ends_the_program(linux: Bench) -> None:
    outcome = await linux.python("import ctypes; ctypes.CDLL(None).syscall(0x40000027)")
    assert (outcome.ended_by, outcome.signal) == (EndedBy.SIGNAL, signal.SIGSYS)
