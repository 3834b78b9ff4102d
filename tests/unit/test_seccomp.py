"""The system-call filter, run on an interpreter of its own language: every call, both machines."""

from __future__ import annotations

import errno
import struct

import pytest

from coderunner.engines.linux.boxes import seccomp, syscalls

pytestmark = pytest.mark.unit

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
HIGH = 1 << 32


def decide(program: bytes, architecture: int, number: int, args: tuple[int, ...] = ()) -> int:
    """What the kernel would return for a call: classic BPF has few instructions."""
    padded = [*args, *[0] * 6][:6]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *padded)
    code = list(struct.iter_unpack("<HBBI", program))
    place = accumulator = 0
    while True:
        operation, if_true, if_false, value = code[place]
        place += 1
        if operation == 0x06:
            return int(value)
        if operation == 0x20:
            [accumulator] = struct.unpack_from("<I", data, value)
            continue
        met = {
            0x15: accumulator == value,
            0x25: accumulator > value,
            0x35: accumulator >= value,
            0x45: bool(accumulator & value),
        }[operation]
        place += if_true if met else if_false


@pytest.fixture(params=ARCHITECTURES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("metered", [True, False])
def test_exactly_the_calls_of_the_table_are_allowed(machine: str, metered: bool) -> None:
    program = seccomp.build(machine, metered=metered)
    table = syscalls.numbers(machine)
    names = {number: name for name, number in table.items()}
    for number in range(1024):
        name = names.get(number)
        if name in syscalls.CHECKED or (name == "mmap" and not metered):
            continue
        hidden = name in syscalls.UNMETERED_MEMORY and not metered
        expected = ALLOW if name and not hidden else REFUSE | errno.EPERM
        assert decide(program, ARCHITECTURES[machine], number) == expected, (number, name)


def test_another_architecture_is_killed(machine: str) -> None:
    program = seccomp.build(machine, metered=True)
    for architecture in (0x40000003, 0xC00000F3, 0):  # i386, riscv64, nonsense
        assert decide(program, architecture, 0) == KILL


def test_x32_calls_are_killed() -> None:
    program = seccomp.build("x86_64", metered=True)
    for number in (0x40000000, 0x40000027, 0xFFFFFFFF):
        assert decide(program, ARCHITECTURES["x86_64"], number) == KILL


CHECKED = [
    ("clone", (0x11,), ALLOW),
    ("clone", (0x003D0F00,), ALLOW),  # a thread
    *(("clone", (flag | 0x11,), REFUSE | errno.EPERM) for flag in (
        0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
    )),
    ("clone3", (), REFUSE | errno.ENOSYS),
    ("io_uring_setup", (), REFUSE | errno.ENOSYS),
    ("io_uring_enter", (), REFUSE | errno.ENOSYS),
    ("io_uring_register", (), REFUSE | errno.ENOSYS),
    *(("socket", (family, 1, 0), ALLOW) for family in (1, 2, 10)),
    ("socket", (16, 3, 0), REFUSE | errno.EOPNOTSUPP),  # netlink
    *(("socket", (family, 1, 0), REFUSE | errno.EAFNOSUPPORT) for family in (
        0, 3, 9, 15, 17, 29, 31, 38, 40, 44, 45, 0xFFFFFFFF
    )),
    ("socketpair", (1,), ALLOW),
    ("socketpair", (2,), REFUSE | errno.EAFNOSUPPORT),
    ("ioctl", (0, 0x5401), ALLOW),
    ("ioctl", (0, 0x541B), ALLOW),
    ("ioctl", (0, 0x5412), REFUSE | errno.EPERM),
    ("ioctl", (0, 0x541C), REFUSE | errno.EPERM),
    ("ioctl", (0, 0x4B3A), REFUSE | errno.ENOTTY),
    *(("prctl", (option,), ALLOW) for option in (1, 4, 15, 22, 38, 47, 0x53564D41)),
    *(("prctl", (option,), REFUSE | errno.EINVAL) for option in (0, 31, 62, 67, 78, 0x53564D42)),
    ("prlimit64", (0,), ALLOW),
    ("prlimit64", (1,), REFUSE | errno.EPERM),
    ("personality", (0,), ALLOW),
    ("personality", (0xFFFFFFFF,), ALLOW),
    ("personality", (0x0400000,), REFUSE | errno.EPERM),
    ("inotify_init1", (0,), REFUSE | errno.ENOSYS),
    ("fcntl", (3, 1), ALLOW),
    ("fcntl", (3, 36), REFUSE | errno.EINVAL),
    ("fcntl", (3, 38), REFUSE | errno.EINVAL),
    ("fcntl", (3, 39), ALLOW),
    ("fcntl", (3, 1026), REFUSE | errno.EPERM),
    ("fcntl", (3, 1024), REFUSE | errno.EPERM),
    *((name, (pid,), decision) for name in (
        "sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity"
    ) for pid, decision in ((0, ALLOW), (2, ALLOW), (1, REFUSE | errno.EPERM))),
    *((name, whom, decision) for name in ("setpriority", "ioprio_set") for whom, decision in (
        ((0, 0), ALLOW), ((0, 7), ALLOW), ((0, 1), REFUSE | errno.EPERM),
        ((1, 1), REFUSE | errno.EPERM), ((2, 0), REFUSE | errno.EPERM),
        ((3, 0), REFUSE | errno.EPERM),
    )),
    ("socket", (2, 1, 6), ALLOW),
    ("socket", (10, 2, 17), ALLOW),
    ("socket", (2, 1, 262), REFUSE | errno.EAFNOSUPPORT),
    ("socket", (2, 1, 132), REFUSE | errno.EAFNOSUPPORT),
    *((name, (1000,), ALLOW) for name in ("setuid", "setgid")),
    *((name, (0,), REFUSE | errno.EPERM) for name in ("setuid", "setgid")),
    *((name, (0xFFFFFFFF, 1000), ALLOW) for name in ("setreuid", "setregid")),
    *((name, (1000, 0), REFUSE | errno.EPERM) for name in ("setreuid", "setregid")),
    *((name, (1000, 1000, 0xFFFFFFFF), ALLOW) for name in ("setresuid", "setresgid")),
    *((name, (1000, 1000, 0), REFUSE | errno.EPERM) for name in ("setresuid", "setresgid")),
    ("sync", (), REFUSE),
    ("syncfs", (3,), REFUSE),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "expected"), CHECKED)
@pytest.mark.parametrize("junk", [0, HIGH, 0xDEADBEEF << 32], ids=["plain", "high", "junk"])
def test_calls_that_depend_on_their_arguments(
    machine: str, name: str, args: tuple[int, ...], expected: int, junk: int
) -> None:
    program = seccomp.build(machine, metered=True)
    number = syscalls.numbers(machine)[name]
    arguments = tuple(arg | junk for arg in args)
    assert decide(program, ARCHITECTURES[machine], number, arguments) == expected


def test_every_checked_call_is_tested() -> None:
    assert {name for name, _, _ in CHECKED} == syscalls.CHECKED - {"inotify_init"}


def test_only_with_a_terminal_can_one_be_set_up(machine: str) -> None:
    number = syscalls.numbers(machine)["ioctl"]

    def answer(request: int, *, terminal: bool) -> int:
        program = seccomp.build(machine, metered=True, terminal=terminal)
        return decide(program, ARCHITECTURES[machine], number, (0, request | HIGH))

    for request in seccomp.TERMINAL_IOCTLS:
        assert answer(request, terminal=True) == ALLOW
        assert answer(request, terminal=False) == REFUSE | errno.ENOTTY
    for request in seccomp.TERMINAL_INJECTION:
        assert answer(request, terminal=True) == REFUSE | errno.EPERM
    for request in (0x5423, 0x540E, 0x540C, 0x5420, 0x541D):  # TIOCSETD and so on
        assert answer(request, terminal=True) == REFUSE | errno.ENOTTY


MAPPINGS = [(0x22, True), (0x02, True), (0x01, True), (0x21, False), (0x23, False), (0x4021, False)]


@pytest.mark.parametrize(("flags", "fine"), MAPPINGS)
def test_memory_that_no_sampling_finds(machine: str, flags: int, fine: bool) -> None:
    number = syscalls.numbers(machine)["mmap"]
    arguments = (0, 4096, 3, flags | HIGH)
    for metered in (True, False):
        program = seccomp.build(machine, metered=metered)
        expected = ALLOW if fine or metered else REFUSE | errno.EPERM
        assert decide(program, ARCHITECTURES[machine], number, arguments) == expected
