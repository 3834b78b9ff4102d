"""The filter in Docker's words allows what the one of the boxes allows, and nothing else."""

from __future__ import annotations

import errno
import itertools
import json
from typing import Any

import pytest

from coderunner.engines.docker import profile
from coderunner.engines.linux.boxes import identity, seccomp, syscalls
from tests.unit.test_seccomp import ALLOW, ARCHITECTURES, REFUSE, decide

pytestmark = pytest.mark.unit

HIGH = 1 << 32
VALUES = [
    *range(130),
    *(1 << bit for bit in range(7, 64)),
    *(identity.INNER_ID, 0xFFFFFFFF, (1 << 64) - 1, HIGH | 1, HIGH | 2, 1024, 1026, 1030),
    *seccomp.IOCTLS,
    *seccomp.PRCTLS,
    *seccomp.TERMINAL_INJECTION,
    *(value | HIGH for value in seccomp.TERMINAL_INJECTION),
]


def decided(rules: list[dict[str, Any]], name: str, args: tuple[int, ...]) -> int:
    """As libseccomp has it: any rule that fits; those that allow do not overlap with others."""
    found = {
        ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else REFUSE | rule["errnoRet"]
        for rule in rules
        if name in rule["names"]
        and all(
            args[one["index"]] & one["value"] == one["valueTwo"] for one in rule.get("args", ())
        )
    }
    assert len(found) <= 1, (name, args, found)
    return found.pop() if found else REFUSE | errno.EPERM


@pytest.fixture(params=ARCHITECTURES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def rules(machine: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(profile.profile(machine, identity.INNER_ID))[
        "syscalls"
    ]
    return found


def test_the_same_calls(machine: str, rules: list[dict[str, Any]]) -> None:
    named = {name for rule in rules for name in rule["names"]}
    assert named == set(syscalls.numbers(machine))


def test_the_same_arguments(machine: str, rules: list[dict[str, Any]]) -> None:
    filter_, table = seccomp.build(machine, metered=True), syscalls.numbers(machine)
    arguments = [
        *((value, 0, 0) for value in VALUES),
        *((0, value, 0) for value in VALUES),
        *itertools.product((0, 1, 2, 10, 1000, 0xFFFFFFFF), (0, 1, 2, 1000), (0, 6, 17, 58)),
    ]
    for name in syscalls.CHECKED & set(table):
        for args in arguments:
            theirs = decide(filter_, ARCHITECTURES[machine], table[name], args)
            ours = decided(rules, name, args)
            # What no kernel knows: one filter leaves the refusal to the kernel.
            stricter = (name == "fcntl" and args[1] not in (*range(17), *range(1024, 1041))) or (
                name in ("setpriority", "ioprio_set") and args[0] not in (0, 1, 2, 3)
            )
            assert (ours == ALLOW) == (theirs == ALLOW) or stricter, (name, args)
