"""Controls taken away on purpose, in the code or by the host: the engine refuses, doctor tells.

The code is a copy with one line changed; a line that is no longer there fails the test.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import coderunner
from hatch_build import compile_process1
from tests.support import ROOT, require_sandbox

pytestmark = pytest.mark.hostile

BOXES = "engines/linux/boxes"


class Sabotage(NamedTuple):
    """One line of the package, and what stands there instead."""

    file: str
    line: str
    instead: str
    told: str  # a word that whoever is refused must read
    compiled: bool = True  # process 1, as it is wherever there is a compiler


STAGES = f"{BOXES}/stages.py"
PROCESS_1, PLAYER = f"{BOXES}/process1.c", f"{BOXES}/player.c"
NOTICED = {
    "no seccomp filter": Sabotage(
        STAGES, "    _install_filter(plan, around, kind)", "", "Seccomp"
    ),
    "a filter that refuses nothing": Sabotage(
        f"{BOXES}/seccomp.py",
        "return program + _refuse(errno.EPERM)",
        "return _return(_ALLOW)",
        "filter",
    ),
    "no network namespace": Sabotage(
        STAGES, "kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC", "kernel.CLONE_NEWIPC", "net namespace"
    ),
    "no ipc namespace": Sabotage(
        STAGES, "kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC", "kernel.CLONE_NEWNET", "ipc namespace"
    ),
    "no uts namespace": Sabotage(
        STAGES, "kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS", "kernel.CLONE_NEWIPC", "uts namespace"
    ),
    "no pid namespace": Sabotage(
        f"{BOXES}/boxes.c", "CLONE_NEWPID | CLONE_PIDFD", "CLONE_PIDFD", ""
    ),
    "no pid namespace, in Python": Sabotage(
        f"{BOXES}/making.py", "kernel.clone(kernel.CLONE_NEWPID)", "kernel.clone(0)", "",
        compiled=False,
    ),
    "capabilities are kept": Sabotage(
        f"{BOXES}/identity.py", "    _set_capabilities(plan, 0)\n", "", "Cap"
    ),
    "privileges can be gained": Sabotage(
        f"{BOXES}/identity.py", "    plan.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)\n", "", ""
    ),
    "a root that can be written to": Sabotage(
        f"{BOXES}/rootfs.py",
        "kernel.set_mount_attributes(root, kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID)",
        "pass",
        "read-only",
    ),
    "a plan that is not played": Sabotage(PROCESS_1, "    play(plan);\n", "    (void)plan;\n", ""),
    "steps whose failure is passed over": Sabotage(
        PLAYER, "int error = result < 0 ? errno : 0;", "int error = result < 0 ? 0 : 0;", ""
    ),
}  # fmt: skip
NOTICED_WITH_CGROUPS = {
    "the box stays outside of its cgroup": Sabotage(
        STAGES, 'plan.call("write", entrance, "0", 1)', "pass", "cgroup"
    ),
    "the cgroup has no limits": Sabotage(
        f"{BOXES}/making.py", "cgroup.limit(meters(limits))", "pass", "cgroup"
    ),
}
# What process 1 does not look for, because it costs too much or cannot be asked of the kernel.
SEEN_BY_DOCTOR = {
    "inherited descriptors": Sabotage(
        PROCESS_1, "close_range(CHANNEL + 1, ~0U, 0) < 0", "dup2(CHANNEL, 77) < 0", ""
    ),
    "inherited descriptors, in Python": Sabotage(
        f"{BOXES}/inside.py",
        "    for number, fd in enumerate(stdio):\n        os.dup2(fd, number)",
        "    for number, fd in enumerate(stdio):\n        os.dup2(fd, number)\n"
        "    os.set_inheritable(os.open('/usr', 0), True); _close_all_but = lambda fds: None",
        "", compiled=False,
    ),
    "landlock": Sabotage(STAGES, "if around.landlock:", "if False:", ""),
    "wall time": Sabotage(f"{BOXES}/run.py", 'return "wall_time"', 'return ""', ""),
    "files": Sabotage(
        f"{BOXES}/making.py", "\"nr_inodes\": str(limits[\"files\"] + 16)", '"nr_inodes": "0"', ""
    ),
    "open files": Sabotage(PROCESS_1, "limit(RLIMIT_NOFILE, job->open_files) < 0 ||", "", ""),
    "open files, in Python": Sabotage(
        f"{BOXES}/inside.py", "(resource.RLIMIT_NOFILE, job.open_files),", "", "", compiled=False
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    require_sandbox()


def sabotaged(place: Path, sabotage: Sabotage) -> dict[str, str]:
    """An environment in which `import coderunner` finds a copy with that line changed."""
    copy = place / "coderunner"
    shutil.copytree(Path(coderunner.__file__).parent, copy, dirs_exist_ok=True)
    file = copy / sabotage.file
    text = file.read_text()
    assert text.count(sabotage.line) == 1, f"{sabotage.file} no longer says {sabotage.line!r}"
    file.write_text(text.replace(sabotage.line, sabotage.instead))
    if not sabotage.compiled:
        (copy / BOXES / "process1").unlink()
    elif file.suffix == ".c":
        assert compile_process1(file.parent)
    return {**os.environ, "PYTHONPATH": str(place), "CODERUNNER_CACHE_DIR": str(place / "cache")}


def command_line(
    *words: str, env: dict[str, str] | None = None, through: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    start = "import sys; from coderunner.cli import main; main()"
    command = [*through, sys.executable, "-c", start, *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)


def run_something(*words: str, **how: Any) -> subprocess.CompletedProcess[str]:
    return command_line("run", "-l", "bash", "-c", "echo hello", *words, **how)


def doctor(**how: Any) -> tuple[int, dict[str, Any]]:
    done = command_line("doctor", "--json", **how)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, report


def check_refusal(how: dict[str, Any], told: str) -> None:
    done = run_something(**how)
    assert (done.returncode, done.stdout) != (0, "hello\n")
    assert "hello" not in done.stdout
    assert told in done.stderr
    assert "hint:" in done.stderr
    status, report = doctor(**how)
    assert status != 0
    assert report["isolation"] is None
    assert told in json.dumps(report)


@pytest.mark.parametrize("name", NOTICED)
def test_refused_before_anything_runs(tmp_path: Path, name: str) -> None:
    check_refusal({"env": sabotaged(tmp_path, NOTICED[name])}, NOTICED[name].told)


@pytest.mark.as_root  # an ordinary user has no cgroup to lose
@pytest.mark.parametrize("name", NOTICED_WITH_CGROUPS)
def test_refused_with_cgroups(tmp_path: Path, name: str) -> None:
    sabotage = NOTICED_WITH_CGROUPS[name]
    check_refusal({"env": sabotaged(tmp_path, sabotage)}, sabotage.told)


@pytest.mark.parametrize("control", SEEN_BY_DOCTOR)
def test_seen_by_doctor(tmp_path: Path, control: str) -> None:
    status, report = doctor(env=sabotaged(tmp_path, SEEN_BY_DOCTOR[control]))
    states = {found["name"]: found["state"] for found in report["controls"]}
    assert states[control.removesuffix(", in Python")] == "absent"
    assert status != 0 or control == "landlock"  # a second wall only


def test_doctor_is_content_with_the_code_as_it_is(tmp_path: Path) -> None:
    nothing = Sabotage(f"{BOXES}/run.py", 'return "wall_time"', 'return "wall_time"', "")
    status, report = doctor(env=sabotaged(tmp_path, nothing))
    assert status == 0, report


# --- the same, done by the host ----------------------------------------------------------------

IN_USER_NAMESPACE = ("unshare", "--user", "--map-root-user")


def after(script: str) -> tuple[str, ...]:
    return ("sh", "-ec", f'{script}; exec "$@"', "sh")


@pytest.mark.parametrize(
    ("setting", "told"),
    [("net", "network"), ("user", "user namespace"), ("pid", "pid namespace")],
)
def test_a_host_without_these_namespaces(setting: str, told: str) -> None:
    forbid = after(f"echo 0 > /proc/sys/user/max_{setting}_namespaces")
    check_refusal({"through": (*IN_USER_NAMESPACE, *forbid)}, told)


def test_a_user_namespace_without_rights(tmp_path: Path) -> None:
    """As Ubuntu 24.04 gives one to ordinary users: it is created, and its rights are taken away."""
    make = "kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)"
    powerless = f"{make}; kernel.set_capabilities(effective=0, permitted=0)"
    sabotage = Sabotage(f"{BOXES}/host.py", make, powerless, "apparmor_restrict_unprivileged")
    how = {"env": sabotaged(tmp_path, sabotage), "through": IN_USER_NAMESPACE}
    check_refusal(how, sabotage.told)


NUMBERS = {"x86_64": (317, 157), "aarch64": (277, 167)}


def test_a_host_without_seccomp() -> None:
    """prctl(PR_SET_SECCOMP) and seccomp() fail, as where the kernel was built without them."""
    seccomp, prctl = NUMBERS[os.uname().machine]
    load, jump, give = 0x20, 0x15, 0x06
    refuse, allow = 0x00050016, 0x7FFF0000
    steps = [
        *((load, 0, 0, 0), (jump, 3, 0, seccomp), (jump, 0, 3, prctl)),
        *((load, 0, 0, 16), (jump, 0, 1, 22), (give, 0, 0, refuse), (give, 0, 0, allow)),
    ]
    filter = b"".join(struct.pack("<HBBI", *step) for step in steps)
    through = (sys.executable, str(ROOT / "tests/under_filter.py"), filter.hex())
    check_refusal({"through": through}, "seccomp")


NO_CGROUPS = ("unshare", "--mount", *after("mount -t tmpfs none /sys/fs/cgroup"))


@pytest.mark.as_root
def test_a_host_without_cgroups_is_sampled_and_says_so() -> None:
    assert run_something(through=NO_CGROUPS).stdout == "hello\n"
    status, report = doctor(through=NO_CGROUPS)
    assert (status, report["isolation"]) == (0, "sampled")
    states = {found["name"]: found["state"] for found in report["controls"]}
    assert states["memory"] == states["processes"] == states["cpu time"] == "sampled"


@pytest.mark.as_root
def test_a_host_without_cgroups_is_not_full() -> None:
    done = run_something("--isolation", "full", through=NO_CGROUPS)
    assert done.stdout == ""
    assert "memory is sampled" in done.stderr
    assert "hint:" in done.stderr
