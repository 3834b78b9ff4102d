"""The system-call filter for containers: the same allow-list, in the words of Docker's JSON.

Docker's filters can say "if an argument, looked at through a mask, is this, allow it", and nothing
about the order of rules. So each call of `syscalls.CHECKED` is told by what is allowed of it;
whatever is not gets EPERM, where the filter of `seccomp.py` may have a better fitting error.
"""

from __future__ import annotations

import errno
import functools
import itertools
import json
from collections.abc import Iterable, Sequence
from typing import Any

from coderunner.engines.linux.boxes import seccomp, syscalls

ARCHITECTURES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
_LOW = 0xFFFFFFFF  # all that the kernel reads of an int
_MOST_FAMILIES, _MOST_OPTIONS = 64, 128
_OTHER_FCNTLS = 1041  # as many commands as there are, with room to grow
_SCHEDULING = ("sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity")
_OWN_ID = {"setuid": 1, "setgid": 1, "setreuid": 2, "setregid": 2, "setresuid": 3, "setresgid": 3}
_UNKNOWN = (
    *("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("inotify_init", "inotify_init1"),
)
_NOTHING_TO_DO = ("sync", "syncfs")
ASK_TO_END = 64  # a signal for wardens, which no program can send
_SETTING_SIGNAL = 10  # F_SETSIG: for when something happens to a file
_SENDING = {  # a signal, and which argument says which one
    **dict.fromkeys(("kill", "tkill", "rt_sigqueueinfo", "pidfd_send_signal"), 1),
    **dict.fromkeys(("tgkill", "rt_tgsigqueueinfo"), 2),
}

Test = tuple[int, int, int]  # of an argument: its index, a mask, and what it is behind that


def profile(machine: str, uid: int) -> str:
    """The filter for a container whose processes all have this uid and gid."""
    table = syscalls.numbers(machine)
    plain = sorted(set(table) - syscalls.CHECKED - set(_SENDING))
    rules: list[dict[str, Any]] = [{"names": plain, "action": "SCMP_ACT_ALLOW"}]
    for name, ways in {**_allowed(), **_own_ids(uid)}.items():
        rules += [_rule(name, way) for way in ways]
    rules += _better_refusals()
    rules.append(_refusal(_UNKNOWN, errno.ENOSYS))
    rules.append(_refusal(_NOTHING_TO_DO, 0))  # which is success
    kept = [{**rule, "names": [n for n in rule["names"] if n in table]} for rule in rules]
    whole = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "architectures": [ARCHITECTURES[machine]],
        "syscalls": [rule for rule in kept if rule["names"]],
    }
    return json.dumps(whole, separators=(",", ":"))


@functools.cache
def _allowed() -> dict[str, Sequence[tuple[Test, ...]]]:
    """By name of a call, the ways in which it is allowed."""
    inet = [
        (_is(0, family), _is(2, protocol))
        for family in (seccomp.AF_INET, seccomp.AF_INET6)
        for protocol in seccomp.INET_PROTOCOLS
    ]
    not_process_1 = [(test,) for test in _is_not(0, 1)]
    # Of a process or a group, and not of process 1.
    others = [(_is(0, which), test) for which in (0, 1) for test in _is_not(1, 1)]
    return {
        "clone": [((0, seccomp.NAMESPACE_FLAGS, 0),)],
        "fcntl": [(_is(1, command),) for command in _fcntls()]
        + [(_is(1, _SETTING_SIGNAL), _below_64(2))],
        "prctl": _one_of(0, seccomp.PRCTLS),
        "socket": [(_is(0, seccomp.AF_UNIX),), *inet],
        "socketpair": _one_of(0, [seccomp.AF_UNIX]),
        "ioctl": _one_of(1, seccomp.IOCTLS),
        "prlimit64": _one_of(0, [0]),
        "personality": _one_of(0, seccomp.PERSONALITIES),
        "setpriority": others,
        "ioprio_set": others,  # with other numbers for the same, of which 0 is none
        **dict.fromkeys(_SCHEDULING, not_process_1),
        **{name: [(_below_64(index),)] for name, index in _SENDING.items()},
    }


def _better_refusals() -> list[dict[str, Any]]:
    """Where programs look at the error: as a kernel says it that has never heard of such."""
    families = set(range(_MOST_FAMILIES)) - {seccomp.AF_UNIX, seccomp.AF_INET, seccomp.AF_INET6}
    sockets = families - {seccomp.AF_NETLINK}
    options = set(range(_MOST_OPTIONS)) - set(seccomp.PRCTLS)
    refused = [
        ("socket", seccomp.AF_NETLINK, errno.EOPNOTSUPP),
        *(("socket", family, errno.EAFNOSUPPORT) for family in sorted(sockets)),
        *(("socketpair", family, errno.EAFNOSUPPORT) for family in sorted(families)),
        *(("prctl", option, errno.EINVAL) for option in sorted(options)),
    ]
    return [
        {**_refusal([name], number), "args": _rule(name, (_is(0, value),))["args"]}
        for name, value, number in refused
    ]


def _own_ids(uid: int) -> dict[str, Sequence[tuple[Test, ...]]]:
    """To the id that all of them are already, or to none (-1)."""
    return {
        name: [
            tuple(_is(index, value) for index, value in enumerate(values))
            for values in itertools.product((uid, _LOW), repeat=count)
        ]
        for name, count in _OWN_ID.items()
    }


def _fcntls() -> list[int]:
    refused = {_SETTING_SIGNAL, *seccomp.FCNTL_OFD_LOCKS, *seccomp.FCNTL_NOTIFICATIONS}
    known = [*range(17), *range(1024, _OTHER_FCNTLS)]
    return [command for command in known if command not in refused]


def _is(index: int, value: int) -> Test:
    return index, _LOW, value


def _below_64(index: int) -> Test:
    return index, _LOW & ~63, 0


def _one_of(index: int, values: Iterable[int]) -> list[tuple[Test, ...]]:
    return [(_is(index, value),) for value in values]


def _is_not(index: int, value: int) -> list[Test]:
    """That differs from it in at least one bit: there is no mask for "anything but"."""
    return [(index, 1 << bit, ~value & 1 << bit) for bit in range(32)]


def _rule(name: str, tests: tuple[Test, ...]) -> dict[str, Any]:
    args = [
        {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
        for index, mask, value in tests
    ]
    return {"names": [name], "action": "SCMP_ACT_ALLOW", "args": args}


def _refusal(names: Sequence[str], number: int) -> dict[str, Any]:
    return {"names": list(names), "action": "SCMP_ACT_ERRNO", "errnoRet": number}
