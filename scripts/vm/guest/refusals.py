"""Hosts that lack something, played inside the virtual machine by root.

Each of them either still holds a box, at the level it can enforce, or refuses with a message that
names what is missing and a hint that names the remedy. Run by all-hosts.sh.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

Answer = dict[str, str]

PROBE = """
import asyncio, json
from coderunner.engines.linux import LinuxEngine
from coderunner.errors import EngineUnavailable
from coderunner.execution import execute
from coderunner.model import Job, Limits
from coderunner.workspace import Workspace

async def main():
    engine = LinuxEngine()
    with Workspace() as workspace:
        job = Job(("/bin/echo", "hello"), workspace.path, {}, (), Limits())
        try:
            outcome = await execute(engine, job)
            said = {"level": outcome.isolation.name.lower(), "said": outcome.stdout.text}
        except EngineUnavailable as error:
            said = {"message": error.message, "hint": error.hint}
        finally:
            await engine.aclose()
    print(json.dumps(said))

asyncio.run(main())
"""
ROOT: list[str] = []
TESTER = ["setpriv", "--reuid", "tester", "--regid", "tester", "--init-groups", "--inh-caps=-all"]
WHO = {"root": ROOT, "user": TESTER}
HELLO = {"said": "hello\n"}


def ask(*command: str) -> Answer:
    """Run a program on the embedded engine, started through these commands."""
    shown = subprocess.run(
        [*command, sys.executable, "-c", PROBE],
        capture_output=True,
        text=True,
        timeout=120,
        cwd="/",
    )
    assert shown.returncode == 0, shown.stderr
    answer: Answer = json.loads(shown.stdout)
    print(answer)
    return answer


def in_mounts(script: str) -> list[str]:
    """A mount namespace of its own, changed by these commands first."""
    return ["unshare", "--mount", "sh", "-ec", f'{script}; exec "$@"', "sh"]


@pytest.fixture
def setting(request: pytest.FixtureRequest) -> Iterator[None]:
    """A sysctl, for the time of a test."""
    name, value = request.param
    path = Path("/proc/sys", name.replace(".", "/"))
    before = path.read_text()
    path.write_text(value)
    yield
    path.write_text(before)


no_user_namespaces = pytest.mark.parametrize(
    "setting", [("user.max_user_namespaces", "0")], indirect=True
)
none_for_users = pytest.mark.parametrize(
    "setting", [("kernel.unprivileged_userns_clone", "0")], indirect=True
)


@no_user_namespaces
@pytest.mark.usefixtures("setting")
@pytest.mark.parametrize("who", WHO)
def test_no_user_namespaces_at_all(who: str) -> None:
    answer = ask(*WHO[who])
    assert "user namespace" in answer["message"]
    assert "user.max_user_namespaces" in answer["hint"]


@none_for_users
@pytest.mark.usefixtures("setting")
def test_no_user_namespaces_for_users() -> None:
    answer = ask(*TESTER)
    assert "user namespace" in answer["message"]
    assert "kernel.unprivileged_userns_clone" in answer["hint"]


@none_for_users
@pytest.mark.usefixtures("setting")
def test_root_does_not_mind_that_users_have_none() -> None:
    assert ask() == {"level": "full", **HELLO}


def test_root_without_its_most_important_right() -> None:
    answer = ask("setpriv", "--bounding-set=-sys_admin")
    assert answer["message"]
    assert "CAP_SYS_ADMIN" in answer["hint"]


# What a container's root has by default; the same for Docker and Podman, but for one or two.
CONTAINER_RIGHTS = (
    "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+setfcap,"
    "+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write"
)
MASKED = "mount --bind /dev/null /proc/kcore"
READ_ONLY_CGROUPS = "mount -o remount,bind,ro /sys/fs/cgroup"


def bpf_without(*numbers: int) -> bytes:
    """A filter under which these system calls fail with EPERM."""
    load, jump_if_equal, give_back = 0x20, 0x15, 0x06
    allow, refuse = 0x7FFF0000, 0x00050001
    program = struct.pack("<HBBI", load, 0, 0, 0)
    for place, number in enumerate(numbers):
        program += struct.pack("<HBBI", jump_if_equal, len(numbers) - place, 0, number)
    return program + b"".join(struct.pack("<HBBI", give_back, 0, 0, k) for k in (allow, refuse))


# unshare, setns, mount, umount2, pivot_root, open_tree ... mount_setattr
NAMESPACE_CALLS = (272, 308, 165, 166, 155, 428, 429, 430, 431, 432, 442)
CHECKOUT = Path(__file__).parents[3]
UNDER_FILTER = (str(CHECKOUT / "tests/under_filter.py"), bpf_without(*NAMESPACE_CALLS).hex())


@pytest.mark.parametrize("who", WHO)
def test_in_a_container(who: str) -> None:
    answer = ask(
        *in_mounts(f"{MASKED}; {READ_ONLY_CGROUPS}"),
        *("setpriv", f"--bounding-set={CONTAINER_RIGHTS}", *WHO[who][1:]),
        *(sys.executable, *UNDER_FILTER),
    )
    assert "container" in answer["hint"]


def test_parts_of_proc_are_hidden_from_a_user() -> None:
    answer = ask(*in_mounts(MASKED), *TESTER)
    assert "proc" in answer["message"]
    assert "container" in answer["hint"]


def test_parts_of_proc_are_hidden_from_root() -> None:
    assert ask(*in_mounts(MASKED)) == {"level": "full", **HELLO}


def test_root_of_a_user_namespace_is_treated_as_a_user() -> None:
    answer = ask(*TESTER, "unshare", "--user", "--map-root-user")
    assert answer == {"level": "sampled", **HELLO}


@pytest.mark.parametrize("script", [READ_ONLY_CGROUPS, "umount /sys/fs/cgroup"])
def test_without_cgroups_root_is_metered_by_sampling(script: str) -> None:
    assert ask(*in_mounts(script)) == {"level": "sampled", **HELLO}
