"""What a daemon says it can hold, as the controls of every engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coderunner.engines.base import Capabilities, Control, State
from coderunner.errors import EngineUnavailable
from coderunner.model import Isolation

_WALLS = (
    "pid namespace",
    "mount namespace",
    "network namespace",
    "ipc namespace",
    "uts namespace",
    "read-only root",
    "unprivileged uid",
    "no capabilities",
    "no_new_privs",
)
_OWN_KERNEL = ("runsc", "kata", "kata-runtime", "kata-qemu", "kata-clh", "kata-fc")
_SECOND_WALL = "a second wall only, where the first is another kernel"
_CGROUP_FIX = "give the daemon cgroups: run it as root, or rootless with cgroup v2 and systemd"
_SHARED_UIDS = "the daemon has no user namespaces; each container has a uid that nobody else has"


def capabilities(facts: Mapping[str, Any], runtime: str) -> Capabilities:
    own_kernel = _has_own_kernel(facts, runtime)
    walls = [Control(name, State.ENFORCED) for name in _WALLS]
    seccomp = _seccomp(facts, runtime, own_kernel)
    meters = _meters(facts, own_kernel)
    controls = (
        *walls,
        seccomp,
        _user_namespace(facts),
        Control("landlock", State.ABSENT, "not in containers", "a second wall only", extra=True),
        *meters,
        Control("wall time", State.ENFORCED),
        Control("disk", State.ENFORCED, "/workspace, /tmp and /dev/shm, each by itself"),
        *(_of_its_own_kernel() if own_kernel else ()),
    )
    return Capabilities(_isolation(seccomp, meters, own_kernel), controls)


def _isolation(seccomp: Control, meters: list[Control], own_kernel: bool) -> Isolation:
    if own_kernel:
        return Isolation.VM
    if seccomp.state is State.ABSENT:
        return Isolation.NONE
    held = all(meter.state is State.ENFORCED for meter in meters[:3])
    return Isolation.FULL if held else Isolation.SAMPLED


def _has_own_kernel(facts: Mapping[str, Any], runtime: str) -> bool:
    """By the name of the runtime, or of the program that it is."""
    chosen = runtime or str(facts.get("DefaultRuntime") or "")
    path = str(((facts.get("Runtimes") or {}).get(chosen) or {}).get("path") or "")
    return any(name in _OWN_KERNEL for name in (chosen, path.rpartition("/")[2]))


def _seccomp(facts: Mapping[str, Any], runtime: str, own_kernel: bool) -> Control:
    name = "seccomp filter"
    if own_kernel:
        why = f"{runtime or 'the runtime'}: the calls reach a kernel of their own"
        return Control(name, State.ENFORCED, why, _SECOND_WALL, extra=True)
    if any("seccomp" in str(option) for option in facts.get("SecurityOptions") or ()):
        return Control(name, State.ENFORCED)
    return Control(name, State.ABSENT, "the daemon was built without it", "use another daemon")


def _user_namespace(facts: Mapping[str, Any]) -> Control:
    options = " ".join(map(str, facts.get("SecurityOptions") or ()))
    if "userns" in options or "rootless" in options:
        return Control("user namespace", State.ENFORCED)
    fix = 'a second wall only: "userns-remap": "default" in daemon.json'
    return Control("user namespace", State.ABSENT, _SHARED_UIDS, fix, extra=True)


def _meters(facts: Mapping[str, Any], own_kernel: bool) -> list[Control]:
    reason = f"cgroup v{facts.get('CgroupVersion', '?')}"
    if own_kernel and _ignores_cgroups(facts):
        why = "the runtime ignores cgroups: the tree is looked at every 10 ms"
        fix = "run it with cgroups: without --ignore-cgroups"
        return [
            *(
                Control(name, State.SAMPLED, why, fix)
                for name in ("memory", "processes", "cpu time")
            ),
            Control("cpus", State.ABSENT, why, fix),
        ]

    def meter(name: str, held: object, state: State) -> Control:
        if held:
            return Control(name, State.ENFORCED, reason)
        return Control(name, state, "the daemon has no such cgroup controller", _CGROUP_FIX)

    return [
        meter("memory", facts.get("MemoryLimit"), State.SAMPLED),
        meter("processes", facts.get("PidsLimit"), State.SAMPLED),
        Control("cpu time", State.ENFORCED, reason),
        meter("cpus", facts.get("CpuCfsQuota"), State.ABSENT),
    ]


def _of_its_own_kernel() -> list[Control]:
    """What is in such a container is that kernel's, and nothing of the host's."""
    return [
        Control("devices", State.ENFORCED, "they are of its own kernel", _SECOND_WALL, extra=True),
        Control("files", State.ABSENT, "gVisor does not count them", "bound them by disk_mb"),
    ]


def _ignores_cgroups(facts: Mapping[str, Any]) -> bool:
    runtimes = (facts.get("Runtimes") or {}).values()
    return any("--ignore-cgroups" in (one.get("runtimeArgs") or ()) for one in runtimes)


def check_throttle(offered: Capabilities) -> None:
    """Raise EngineUnavailable if no program's cpus can be limited."""
    held = next(control for control in offered.controls if control.name == "cpus")
    if held.state is State.ABSENT:
        raise EngineUnavailable(
            f"cpus cannot be held here: {held.reason}", hint=f"{held.fix}; or leave cpus out"
        )
