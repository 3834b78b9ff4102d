"""The system-call filter: an allow-list, assembled as classic BPF without any library.

Rules that look at an argument compare its low 32 bits only, because that is all the kernel reads
of an int: a check of all 64 bits would let `TIOCSTI | 1 << 32` through.

    foreign architecture, x32 call     kill the process
    clone3, io_uring_*                 ENOSYS (callers fall back to clone, epoll)
    everything not allowed             EPERM
"""

from __future__ import annotations

import errno
import functools
import struct
from collections.abc import Iterable

from . import identity, syscalls

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_LOAD, _RETURN = 0x20, 0x06
_JUMP_EQ, _JUMP_GT, _JUMP_GE, _JUMP_SET = 0x15, 0x25, 0x35, 0x45
_NR, _ARCH, _ARGS = 0, 4, 16  # offsets in struct seccomp_data

_KILL = 0x80000000
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000

NAMESPACE_FLAGS = 0x7E020000  # every CLONE_NEW* that clone() can take
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
INET_PROTOCOLS = (0, 6, 17)  # the default one, TCP, UDP
ALL_OF_A_USER = (2, 3)  # PRIO_USER and IOPRIO_WHO_USER
FCNTL_NOTIFICATIONS = (1024, 1026)  # F_SETLEASE, F_NOTIFY
FCNTL_OFD_LOCKS = (36, 37, 38)  # F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20

# What programs ask of files, pipes and sockets. There are no devices to ask anything else of.
IOCTLS = (
    0x5401,  # TCGETS: isatty()
    0x802C542A,  # TCGETS2, which newer C libraries use for the same
    0x540F,  # TIOCGPGRP
    0x5413,  # TIOCGWINSZ
    0x541B,  # FIONREAD
    0x5421,  # FIONBIO
    0x5450,  # FIONCLEX
    0x5451,  # FIOCLEX
    0x5452,  # FIOASYNC
    0x8905,  # SIOCATMARK
    0x8910,  # SIOCGIFNAME
    0x8912,  # SIOCGIFCONF
    0x8913,  # SIOCGIFFLAGS
    0x8915,  # SIOCGIFADDR
    0x891B,  # SIOCGIFNETMASK
    0x8921,  # SIOCGIFMTU
    0x8927,  # SIOCGIFHWADDR
    0x8933,  # SIOCGIFINDEX
)
# What it may do beside that with a terminal of its own, if it has one. Not here: typing into it
# (TIOCSTI), another line discipline (TIOCSETD: drivers that nobody expects here), taking it from
# others (TIOCSCTTY, TIOCEXCL).
TERMINAL_IOCTLS = (
    *(0x5402, 0x5403, 0x5404),  # TCSETS, TCSETSW, TCSETSF
    *(0x402C542B, 0x402C542C, 0x402C542D),  # TCSETS2 and so on, the same
    *(0x5409, 0x5425),  # TCSBRK, TCSBRKP: tcdrain(), tcsendbreak()
    *(0x540A, 0x540B),  # TCXONC, TCFLSH: tcflow(), tcflush()
    0x5410,  # TIOCSPGRP: what is in the foreground
    0x5411,  # TIOCOUTQ
    0x5414,  # TIOCSWINSZ
    0x5429,  # TIOCGSID
)
# What programs and their runtimes set of themselves. Others take memory that nobody counts, or
# are for keeping what we take away.
PRCTLS = (
    *(1, 2, 3, 4, 7, 8, 15, 16),  # death signal, dumpable, keepcaps, name
    *(21, 22, 23, 27),  # seccomp, capabilities and secure bits: to look, or to give up more
    *(29, 30, 35, 36, 37, 38, 39, 40, 41, 42),  # timer slack, memory map, reaper, huge pages …
    *(47, 50, 51, 52, 53, 54, 55, 56, 60, 61, 65, 66),  # … ambient, vectors, pointers, speculation
    *(0x53564D41, 0x41555856, 0x59616D61),  # names of mappings, the auxiliary vector, tracer
)
TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
PERSONALITIES = (0, 0x0040000, 0xFFFFFFFF)  # Linux, without address randomisation, ask only


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _return(action: int) -> bytes:
    return _op(_RETURN, action)


def _refuse(number: int) -> bytes:
    return _return(_ERRNO | number)


def _argument(index: int) -> bytes:
    """Load the low half of an argument (both architectures are little-endian)."""
    return _op(_LOAD, _ARGS + 8 * index)


def _return_if_equal(values: Iterable[int], action: int) -> bytes:
    return b"".join(_op(_JUMP_EQ, value, 0, 1) + _return(action) for value in values)


def _return_if_within(numbers: list[int], action: int) -> bytes:
    """For sorted numbers, range by range: most of the table is a few unbroken runs."""
    program, start = b"", 0
    for end in range(1, len(numbers) + 1):
        if end < len(numbers) and numbers[end] == numbers[end - 1] + 1:
            continue
        low, high = numbers[start], numbers[end - 1]
        program += _op(_JUMP_GE, low, 0, 2) + _op(_JUMP_GT, high, 1, 0) + _return(action)
        start = end
    return program


def _on_call(number: int, body: bytes) -> bytes:
    """Run `body`, which must end in a return, for this call only."""
    return _op(_JUMP_EQ, number, 0, len(body) // 8) + body


def _socket_rule() -> bytes:
    """Local sockets, TCP and UDP. No netlink: what waits in such a socket is memory that no cgroup
    counts, megabytes of it, and it would only tell of a loopback. Its error is another one, since
    libzmq takes that for a machine without interfaces, and any other for a reason to abort."""
    inet = _argument(2) + _return_if_equal(INET_PROTOCOLS, _ALLOW) + _refuse(errno.EAFNOSUPPORT)
    return (
        _argument(0)
        + _return_if_equal([AF_UNIX], _ALLOW)
        + _on_call(AF_INET, inet)
        + _on_call(AF_INET6, inet)
        + _return_if_equal([AF_NETLINK], _ERRNO | errno.EOPNOTSUPP)
        + _refuse(errno.EAFNOSUPPORT)
    )


def _refuse_if(index: int, values: Iterable[int]) -> bytes:
    """Allowed, unless an argument has one of these values."""
    refuse = _ERRNO | errno.EPERM
    return _argument(index) + _return_if_equal(values, refuse) + _return(_ALLOW)


def _allow_if(index: int, values: Iterable[int], otherwise: int) -> bytes:
    return _argument(index) + _return_if_equal(values, _ALLOW) + _refuse(otherwise)


def _own_id_only(count: int) -> bytes:
    """For setuid() and its like: to the id that all of them are already, or to none (-1)."""
    rule = b""
    for index in range(count):
        rule += _argument(index)
        rule += _op(_JUMP_EQ, identity.INNER_ID, 2, 0) + _op(_JUMP_EQ, 0xFFFFFFFF, 1, 0)
        rule += _refuse(errno.EPERM)
    return rule + _return(_ALLOW)


def _checked_rules(ioctls: Iterable[int]) -> dict[str, bytes]:
    """What happens to each call of `syscalls.CHECKED`."""
    unknown = _refuse(errno.ENOSYS)
    no_namespaces = _argument(0) + _op(_JUMP_SET, NAMESPACE_FLAGS, 0, 1)
    # Not of process 1, which has the same uid: starved of cpu it could not even be killed.
    not_process_1 = _refuse_if(0, [1])
    not_the_user = _argument(0) + _return_if_equal(ALL_OF_A_USER, _ERRNO | errno.EPERM)
    return {
        "clone": no_namespaces + _refuse(errno.EPERM) + _return(_ALLOW),
        # Its flags live in memory, where a filter cannot look.
        "clone3": unknown,
        "io_uring_setup": unknown,
        "io_uring_enter": unknown,
        "io_uring_register": unknown,
        # Watches follow files through every mount, out to where the host uses them.
        "inotify_init": unknown,
        "inotify_init1": unknown,
        # Locks of an open file belong to no process, so nobody could say who holds too many.
        "fcntl": _argument(1)
        + _return_if_equal(FCNTL_OFD_LOCKS, _ERRNO | errno.EINVAL)
        + _return_if_equal(FCNTL_NOTIFICATIONS, _ERRNO | errno.EPERM)
        + _return(_ALLOW),
        "prctl": _allow_if(0, PRCTLS, errno.EINVAL),  # as a kernel that has never heard of it
        "socket": _socket_rule(),
        "socketpair": _allow_if(0, [AF_UNIX], errno.EAFNOSUPPORT),
        "ioctl": _argument(1)
        + _return_if_equal(ioctls, _ALLOW)
        + _return_if_equal(TERMINAL_INJECTION, _ERRNO | errno.EPERM)
        + _refuse(errno.ENOTTY),
        # On itself only, for the same reason as below.
        "prlimit64": _allow_if(0, [0], errno.EPERM),
        "sched_setscheduler": not_process_1,
        "sched_setparam": not_process_1,
        "sched_setattr": not_process_1,
        "sched_setaffinity": not_process_1,
        "setpriority": not_the_user + _refuse_if(1, [1]),
        "ioprio_set": not_the_user + _refuse_if(1, [1]),
        "setuid": _own_id_only(1),
        "setgid": _own_id_only(1),
        "setreuid": _own_id_only(2),
        "setregid": _own_id_only(2),
        "setresuid": _own_id_only(3),
        "setresgid": _own_id_only(3),
        "personality": _allow_if(0, PERSONALITIES, errno.EPERM),
        # Would flush the host's disks. Nothing in a box outlives it, so success is honest.
        "sync": _return(_ERRNO),
        "syncfs": _return(_ERRNO),
    }


def _no_shared_anonymous_memory() -> bytes:
    """Such memory lives on when it is no longer mapped, where no sampling finds it."""
    return (
        _argument(3)
        + _op(_JUMP_SET, _MAP_ANONYMOUS, 0, 2)
        + _op(_JUMP_SET, _MAP_SHARED, 0, 1)
        + _refuse(errno.EPERM)
        + _return(_ALLOW)
    )


@functools.cache
def build(machine: str, *, metered: bool, terminal: bool = False) -> bytes:
    """The filter for one architecture. Without a cgroup (`metered=False`) the calls that hide
    memory from sampling are refused too. With a terminal more may be asked of it."""
    table = syscalls.numbers(machine)
    rules = _checked_rules((*IOCTLS, *TERMINAL_IOCTLS) if terminal else IOCTLS)
    hidden: frozenset[str] = frozenset()
    if not metered:
        rules["mmap"] = _no_shared_anonymous_memory()
        hidden = syscalls.UNMETERED_MEMORY
    plain = sorted(n for name, n in table.items() if name not in rules and name not in hidden)
    program = _op(_LOAD, _ARCH) + _op(_JUMP_EQ, _AUDIT_ARCH[machine], 1, 0) + _return(_KILL)
    program += _op(_LOAD, _NR)
    if machine == "x86_64":
        program += _op(_JUMP_GE, _X32_BIT, 0, 1) + _return(_KILL)
    program += _return_if_within(plain, _ALLOW)
    for name, body in rules.items():
        if name in table:
            program += _on_call(table[name], body)
    return program + _refuse(errno.EPERM)
