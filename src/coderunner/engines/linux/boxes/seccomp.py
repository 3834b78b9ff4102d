"""The system-call filter: an allow-list, assembled as classic BPF without any library.

Rules that look at an argument compare its low 32 bits only, because that is all the kernel reads
of an int: a check of all 64 bits would let `TIOCSTI | 1 << 32` through.

    foreign architecture, x32 call     kill the process
    clone3, io_uring_*                 ENOSYS (callers fall back to clone, epoll)
    everything not allowed             EPERM
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable

from . import syscalls

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_LOAD, _RETURN = 0x20, 0x06
_JUMP_EQ, _JUMP_GT, _JUMP_GE, _JUMP_SET = 0x15, 0x25, 0x35, 0x45
_NR, _ARCH, _ARGS = 0, 4, 16  # offsets in struct seccomp_data

_KILL = 0x80000000
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000

_NAMESPACE_FLAGS = 0x7E020000  # every CLONE_NEW* that clone() can take
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_NETLINK_ROUTE = 0

# What programs ask of files, pipes and sockets. There are no devices to ask anything else of.
_IOCTLS = (
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
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_PERSONALITIES = (0, 0x0040000, 0xFFFFFFFF)  # Linux, without address randomisation, ask only


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
    route_only = _argument(2) + _return_if_equal([_NETLINK_ROUTE], _ALLOW)
    route_only += _refuse(errno.EAFNOSUPPORT)
    return (
        _argument(0)
        + _return_if_equal([_AF_UNIX, _AF_INET, _AF_INET6], _ALLOW)
        + _op(_JUMP_EQ, _AF_NETLINK, 0, len(route_only) // 8)
        + route_only
        + _refuse(errno.EAFNOSUPPORT)
    )


def _checked_rules() -> dict[str, bytes]:
    """What happens to each call of `syscalls.CHECKED`."""
    unknown = _refuse(errno.ENOSYS)
    no_namespaces = _argument(0) + _op(_JUMP_SET, _NAMESPACE_FLAGS, 0, 1)
    return {
        "clone": no_namespaces + _refuse(errno.EPERM) + _return(_ALLOW),
        # Its flags live in memory, where a filter cannot look.
        "clone3": unknown,
        "io_uring_setup": unknown,
        "io_uring_enter": unknown,
        "io_uring_register": unknown,
        "socket": _socket_rule(),
        "socketpair": _argument(0)
        + _return_if_equal([_AF_UNIX], _ALLOW)
        + _refuse(errno.EAFNOSUPPORT),
        "ioctl": _argument(1)
        + _return_if_equal(_IOCTLS, _ALLOW)
        + _return_if_equal(_TERMINAL_INJECTION, _ERRNO | errno.EPERM)
        + _refuse(errno.ENOTTY),
        # On itself only: the box's first process runs under the same uid.
        "prlimit64": _argument(0) + _return_if_equal([0], _ALLOW) + _refuse(errno.EPERM),
        "personality": _argument(0)
        + _return_if_equal(_PERSONALITIES, _ALLOW)
        + _refuse(errno.EPERM),
        # Would flush the host's disks. Nothing in a box outlives it, so success is honest.
        "sync": _return(_ERRNO),
        "syncfs": _return(_ERRNO),
    }


def build(machine: str, *, metered: bool) -> bytes:
    """The filter for one architecture. Without a cgroup (`metered=False`) the calls that hide
    memory from sampling are refused too."""
    table = syscalls.numbers(machine)
    hidden = frozenset() if metered else syscalls.UNMETERED_MEMORY
    plain = sorted(n for name, n in table.items() if name not in syscalls.CHECKED | hidden)
    program = _op(_LOAD, _ARCH) + _op(_JUMP_EQ, _AUDIT_ARCH[machine], 1, 0) + _return(_KILL)
    program += _op(_LOAD, _NR)
    if machine == "x86_64":
        program += _op(_JUMP_GE, _X32_BIT, 0, 1) + _return(_KILL)
    program += _return_if_within(plain, _ALLOW)
    for name, body in _checked_rules().items():
        if name in table:
            program += _on_call(table[name], body)
    return program + _refuse(errno.EPERM)
