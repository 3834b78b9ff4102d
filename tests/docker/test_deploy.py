"""The service's container, with the rights of deploy/compose.yaml, on a real daemon: what boxes the
embedded engine can make in there."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from scripts.vm.guest.refusals import HELLO, PROBE
from tests.deploy.service import DEPLOY, compose, security_options
from tests.docker.daemon import IMAGE
from tests.support import ROOT

pytestmark = [pytest.mark.engines, pytest.mark.as_root]

CONTROLLERS = ("memory", "pids", "cpu", "cpuacct")
CGROUPS = Path("/sys/fs/cgroup")


def ask(address: str, security: Mapping[str, str], *more: str) -> dict[str, Any]:
    """Run a program on the embedded engine of a container. Docker before 28 knows no writable
    cgroups; the virtual machine's tests try them."""
    service = compose()
    options = {**security, "seccomp": str(DEPLOY / security["seccomp"])} if security else {}
    options.pop("writable-cgroups", None)
    host = [f"--host={address}"] if address.startswith("unix:") else []  # else the usual one
    command = [
        *("docker", *host, "run", "--rm", "--network=none"),
        *(f"--user={service['user']}", f"--memory={service['mem_limit']}"),
        *(f"--cap-drop={capability}" for capability in service["cap_drop"]),
        *(f"--tmpfs={place}" for place in service["tmpfs"]),
        *(f"--security-opt={name}={value}" for name, value in options.items()),
        *(f"--volume={ROOT}/src:/src:ro", "--env=PYTHONPATH=/src", "--read-only"),
        *("--env=PYTHONDONTWRITEBYTECODE=1", "--env=HOME=/tmp", *more),
        *(IMAGE, "python3", "-c", PROBE),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


@pytest.mark.parametrize(
    ("right", "missing", "remedy"),
    [
        ("seccomp", "user namespace", "seccomp"),
        ("systempaths", "/proc", "systempaths=unconfined"),
    ],
)
def test_none_of_them_is_too_much(dockerd: str, right: str, missing: str, remedy: str) -> None:
    options = security_options()
    if right == "seccomp":
        options = {}  # Docker's own
    else:
        del options[right]
    answer = ask(dockerd, options)
    assert missing in answer["message"]
    assert remedy in answer["hint"]


# Of version 1, which can be given as directories. Version 2 is tried in the virtual machine.
LEVELS = {"sampled": (), "full": CONTROLLERS if (CGROUPS / "memory").is_dir() else None}


@pytest.fixture
def own_cgroups(controllers: Sequence[str]) -> Iterator[list[Path]]:
    """Directories that belong to the container's user."""
    user = int(compose()["user"].split(":")[0])
    made = [CGROUPS / controller / f"of-a-test-{os.getpid()}" for controller in controllers]
    for path in made:
        path.mkdir()
        for each in (path, *path.iterdir()):
            os.chown(each, user, user)
    yield made
    for path in made:
        path.rmdir()


@pytest.mark.parametrize(
    ("level", "controllers"), [case for case in LEVELS.items() if case[1] is not None]
)
def test_the_rights_are_enough(dockerd: str, own_cgroups: list[Path], level: str) -> None:
    mounts = [f"--volume={path}:{path.parent}" for path in own_cgroups]
    assert ask(dockerd, security_options(), *mounts) == {"level": level, **HELLO}
