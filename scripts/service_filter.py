"""Writes deploy/seccomp.json: the system calls that the service's container may make.

They are those that programs may make, since no filter inside can allow more, and those that boxes
are made with. Docker's own filter refuses the latter to everybody without CAP_SYS_ADMIN.
"""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

from coderunner.engines.docker.profile import ARCHITECTURES
from coderunner.engines.linux.boxes import seccomp, syscalls

FILE = Path(__file__).parent.parent / "deploy" / "seccomp.json"
_FAMILIES = (seccomp.AF_UNIX, seccomp.AF_INET, seccomp.AF_INET6)
# As a kernel says it that has never heard of them: libraries then take the older way.
_UNKNOWN = {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"}
_LOW = 0xFFFFFFFF


def document() -> str:
    names = {name for machine in syscalls.MACHINES for name in syscalls.every_number(machine)}
    allowed = sorted(names - _UNKNOWN - {"socket"})
    whole = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "architectures": list(ARCHITECTURES.values()),
        "syscalls": [
            {"names": allowed, "action": "SCMP_ACT_ALLOW"},
            *map(_socket, _FAMILIES),
            {
                "names": sorted(_UNKNOWN),
                "action": "SCMP_ACT_ERRNO",
                "errnoRet": errno.ENOSYS,
            },
        ],
    }
    return json.dumps(whole, indent=1) + "\n"


def _socket(family: int) -> dict[str, Any]:
    test = {"index": 0, "value": _LOW, "valueTwo": family, "op": "SCMP_CMP_MASKED_EQ"}
    return {"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": [test]}


if __name__ == "__main__":
    FILE.write_text(document())
