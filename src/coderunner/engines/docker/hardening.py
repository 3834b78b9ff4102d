"""What every container is made with, whatever runs in it: a compiler gets no more than a program.

Docker's own names, as its API takes them.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from coderunner.engines.docker import profile
from coderunner.engines.docker.order import Files
from coderunner.errors import EngineUnavailable, InvalidLimits
from coderunner.model import MIB, WORKSPACE, Job, Mount

WARDEN = "/.coderunner"  # where it is mounted
# That nobody has: what is counted by user, is for one container.
_UIDS = range(1 << 30, 1 << 31)
_MAPPED_UIDS = range(10_000, 65_000)  # a user namespace has no more than these, as a rule
_PERIOD_US = 100_000
_SHORTEST_QUOTA_US = 1_000
_LONGEST_PERIOD_US = 1_000_000
_INODES = 16  # of a file system itself
_BYTES_STEP, _FILES_STEP = MIB, 64  # what is brought is rounded up, so that most programs agree
_LEAST_FILES = 64  # open ones: the warden's own
_LEAST_MEMORY = 6 * MIB  # Docker takes no less
_LOCKED = 64 * 1024  # bytes of memory that may be locked
_FIRST_TO_GO = 500  # where memory is short; the program more so, and no program can go below
# Docker's own list, and what lets a program watch how busy the machine is.
_MASKED = (
    *("/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
    *("/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi"),
    *("/proc/interrupts", "/sys/firmware", "/sys/devices/virtual/powercap", "/proc/pressure"),
)
_TMPFS = "rw,nosuid,nodev,exec"


def container(
    job: Job,
    *,
    image: str,
    image_volumes: Mapping[str, object],
    files: Files,
    runtime: str,
) -> dict[str, Any]:
    """The configuration of a container for one job: the same for the same kind of job, but for
    whose it is (`for_one`)."""
    return {
        "Image": image,
        "Entrypoint": [f"{WARDEN}/warden"],
        "Cmd": ["run"],
        "WorkingDir": "/",
        "Hostname": "box",
        "Healthcheck": {"Test": ["NONE"]},
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "OpenStdin": True,
        "StdinOnce": True,
        "NetworkDisabled": True,
        "HostConfig": {
            **_WALLS,
            **_limits(job, files),
            "Tmpfs": {**_closed(image_volumes), **_tmpfs(job, files)},
            "Mounts": list(map(_mount, job.mounts)),
            **({"Runtime": runtime} if runtime else {}),
        },
    }


def uids(facts: Mapping[str, Any]) -> range:
    """The users that containers of this daemon may have."""
    options = " ".join(map(str, facts.get("SecurityOptions") or ()))
    return _MAPPED_UIDS if "userns" in options or "rootless" in options else _UIDS


def for_one(
    kind: Mapping[str, Any],
    machine: str,
    labels: Mapping[str, str],
    warden: str,
    users: range = _UIDS,
) -> dict[str, Any]:
    """That configuration for one container, with a user that nobody else is."""
    uid = secrets.choice(users)
    host = kind["HostConfig"]
    tmpfs = {**host["Tmpfs"], WORKSPACE: f"{host['Tmpfs'][WORKSPACE]},uid={uid},gid={uid}"}
    security = ["no-new-privileges", f"seccomp={profile.profile(machine, uid)}"]
    return {
        **kind,
        "User": f"{uid}:{uid}",
        "Labels": dict(labels),
        "HostConfig": {
            **host,
            "Tmpfs": tmpfs,
            "SecurityOpt": security,
            "Mounts": [_warden(warden), *host["Mounts"]],
        },
    }


_WALLS: dict[str, Any] = {
    "NetworkMode": "none",
    "IpcMode": "private",
    "ReadonlyRootfs": True,
    "CapDrop": ["ALL"],
    "Privileged": False,
    "LogConfig": {"Type": "none"},
    "RestartPolicy": {"Name": "no"},
    "CgroupnsMode": "private",
    "MaskedPaths": list(_MASKED),
    "OomScoreAdj": _FIRST_TO_GO,
}


def _limits(job: Job, files: Files) -> dict[str, Any]:
    limits = job.limits
    # What the caller brought is not the program's.
    memory = limits.memory_mb * MIB + _rounded(files.bytes_used, _BYTES_STEP)
    if limits.memory_mb * MIB + files.bytes_used < _LEAST_MEMORY:
        raise InvalidLimits(
            f"memory_mb={limits.memory_mb} is less than Docker can hold",
            hint=f"ask for {_LEAST_MEMORY // MIB} or more",
        )
    open_files = max(limits.open_files, _LEAST_FILES)
    stack = limits.stack_mb * MIB
    return {
        "Memory": memory,
        "MemorySwap": memory,  # both together: no swap
        "PidsLimit": limits.processes + 1,  # the warden
        "ShmSize": limits.disk_mb * MIB,
        "Ulimits": [
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "memlock", "Soft": _LOCKED, "Hard": _LOCKED},
            {"Name": "nofile", "Soft": open_files, "Hard": open_files},
            {"Name": "stack", "Soft": min(stack, 8 * MIB), "Hard": stack},
        ],
        **_throttle(limits.cpus),
    }


def _throttle(cpus: float | None) -> dict[str, Any]:
    if cpus is None:
        return {}
    period = _PERIOD_US
    while cpus * period < _SHORTEST_QUOTA_US and period < _LONGEST_PERIOD_US:
        period *= 10
    quota = int(cpus * period)
    if quota < _SHORTEST_QUOTA_US:
        raise EngineUnavailable(
            f"cpus={cpus} is less than a container can be held to",
            hint=f"ask for {_SHORTEST_QUOTA_US / _LONGEST_PERIOD_US} or more",
        )
    return {"CpuPeriod": period, "CpuQuota": quota}


def _tmpfs(job: Job, files: Files) -> dict[str, str]:
    """All that a program may write to, beside /dev/shm. What it brings may be in either."""
    disk, most = job.limits.disk_mb * MIB, job.limits.files + _INODES
    size = disk + _rounded(files.bytes_used, _BYTES_STEP)
    inodes = most + _rounded(files.count, _FILES_STEP)
    plain, with_files = f"size={disk},nr_inodes={most}", f"size={size},nr_inodes={inodes}"
    tmp = with_files if job.directory == "/tmp" else plain
    return {
        WORKSPACE: f"{_TMPFS},mode=755,{with_files}",
        "/tmp": f"{_TMPFS},mode=1777,{tmp}",
    }


def _rounded(number: int, step: int) -> int:
    """To the next multiple, and never to nothing."""
    return max(1, -(-number // step)) * step


def _closed(volumes: Mapping[str, object]) -> dict[str, str]:
    """An image may ask for volumes, which would be writable, and the daemon's disk."""
    return dict.fromkeys(volumes, "ro,size=4096,mode=555")


def _warden(volume: str) -> dict[str, Any]:
    return {
        "Type": "volume",
        "Source": volume,
        "Target": WARDEN,
        "ReadOnly": True,
        "VolumeOptions": {"NoCopy": True},
    }


def _mount(mount: Mount) -> dict[str, Any]:
    if mount.scratch:
        raise EngineUnavailable(
            f"the docker engine cannot show {mount.target} as writable",
            hint="mark the preparation of its language as read_only",
        )
    return {
        "Type": "bind",
        "Source": str(mount.source),
        "Target": mount.target,
        "ReadOnly": True,
        "BindOptions": {"Propagation": "rprivate"},
    }
