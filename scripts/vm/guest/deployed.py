"""What deploy/ says, carried out inside the virtual machine by root: the unit by systemd, the
container by runc, as Docker does. A program is run in a box in each. Run by all-hosts.sh.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.vm.guest.refusals import HELLO, PROBE

CHECKOUT = Path(__file__).parents[3]
DEPLOY = CHECKOUT / "deploy"
UNIT = Path("/run/systemd/system/coderunner-tried.service")
# What Docker hides of /proc, unless it is told otherwise.
MASKED = ["/proc/kcore", "/proc/keys", "/proc/timer_list"]

Answer = dict[str, Any]


@pytest.fixture(scope="module")
def command() -> Iterator[list[str]]:
    """Runs a program on the embedded engine. In the checkout, which all of them see."""
    script = CHECKOUT / "probe.py"
    script.write_text(PROBE)
    yield [sys.executable, str(script)]
    script.unlink()


def test_a_box_in_the_unit(command: list[str], tmp_path: Path) -> None:
    log = tmp_path / "said"
    text = re.sub(r"(?m)^ExecStart=.*$", f"ExecStart={' '.join(command)}", unit_text())
    text = text.replace("Restart=on-failure", f"Type=oneshot\nStandardOutput=file:{log}")
    UNIT.write_text(text)
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    subprocess.run(["systemctl", "start", UNIT.name], check=True)
    assert json.loads(log.read_text()) == {"level": "full", **HELLO}


def unit_text() -> str:
    return (DEPLOY / "coderunner.service").read_text()


@pytest.fixture
def bundle(tmp_path: Path) -> Iterator[Path]:
    """Of runc: this machine's own root, to be shown read-only."""
    root = tmp_path / "rootfs"
    root.mkdir()
    subprocess.run(["mount", "--bind", "/", root], check=True)
    yield tmp_path
    subprocess.run(["umount", root], check=True)


def in_container(bundle: Path, command: list[str], *, without: str = "") -> Answer:
    """What comes of it in a container made as compose.yaml says, but for one option."""
    (bundle / "config.json").write_text(json.dumps(configuration(command, without)))
    # Docker, too, asks systemd for the cgroup wherever there is version 2.
    runc = ["runc", "--systemd-cgroup", "run", "tried"]
    with contextlib.chdir(bundle):
        ran = subprocess.run(runc, capture_output=True, text=True, check=False)
    print(ran.stdout, ran.stderr)
    answer: Answer = json.loads(ran.stdout)
    return answer


def configuration(command: list[str], without: str) -> dict[str, Any]:
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["service"]
    options = dict(option.split("=", 1) for option in service["security_opt"])
    options.pop(without, None)
    uid, gid = map(int, service["user"].split(":"))
    assert (service["cap_drop"], service["cgroup"]) == (["ALL"], "private")
    nothing: list[str] = []
    return {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": uid, "gid": gid},
            "args": command,
            "env": ["PATH=/usr/bin:/bin", "HOME=/tmp", "PYTHONDONTWRITEBYTECODE=1"],
            "cwd": "/",
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), nothing),
            "noNewPrivileges": options.get("no-new-privileges") == "true",
        },
        "root": {"path": "rootfs", "readonly": service["read_only"]},
        "mounts": mounts(writable_cgroups=options.get("writable-cgroups") == "true"),
        "linux": {
            "namespaces": [
                {"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount", "cgroup")
            ],
            "cgroupsPath": "system.slice:tried:tried",
            "resources": {"memory": {"limit": 1 << 30}, "pids": {"limit": service["pids_limit"]}},
            "maskedPaths": nothing if options.get("systempaths") == "unconfined" else MASKED,
            "seccomp": json.loads((DEPLOY / options["seccomp"]).read_text()),
        },
    }


def mounts(*, writable_cgroups: bool) -> list[dict[str, Any]]:
    read = "rw" if writable_cgroups else "ro"
    return [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["mode=755"]},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro"]},
        {"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": [read]},
        {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]},
        {
            "destination": str(CHECKOUT),
            "type": "bind",
            "source": str(CHECKOUT),
            "options": ["bind", "ro"],
        },
    ]


def test_a_box_in_the_container(bundle: Path, command: list[str]) -> None:
    assert in_container(bundle, command) == {"level": "full", **HELLO}


def test_without_cgroups_of_its_own_boxes_are_sampled(bundle: Path, command: list[str]) -> None:
    answer = in_container(bundle, command, without="writable-cgroups")
    assert answer == {"level": "sampled", **HELLO}


def test_with_a_masked_proc_no_box_can_be_made(bundle: Path, command: list[str]) -> None:
    answer = in_container(bundle, command, without="systempaths")
    assert "systempaths=unconfined" in answer["hint"]
