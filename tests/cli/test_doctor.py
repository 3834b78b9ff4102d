"""`coderunner doctor`: what it finds holds, what it finds missing is missing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from coderunner.doctor import Finding, Kind, examine
from coderunner.doctor.leftovers import Traces
from coderunner.doctor.report import level_of
from coderunner.engines import ENGINES, open_engine
from coderunner.engines.base import Capabilities, Control, Engine, Process, State
from coderunner.engines.process import ProcessEngine
from coderunner.errors import EngineUnavailable
from coderunner.model import Isolation, Job
from coderunner.settings import Settings
from tests.cli.console import COMMAND, TIMEOUT_S, Done, as_json, coderunner, environment
from tests.support import leave_out, require_sandbox

pytestmark = [pytest.mark.cli, pytest.mark.engines]

# What no sandbox of ours may be without, whoever runs it.
WALLS = {
    "mount namespace", "read-only root", "network namespace", "pid namespace", "ipc namespace",
    "uts namespace", "user namespace", "unprivileged uid", "no capabilities", "no_new_privs",
    "seccomp filter", "inherited descriptors", "devices", "kernel settings", "environment",
    "no survivors",
}  # fmt: skip
METERS = {"memory", "memory of the tree", "processes", "threads", "cpu time"}
LIMITS = {"wall time", "output", "disk", "files", "open files", "address space", "cpus"}
EXTRAS = {"landlock", "nothing left behind"}
# What ordinary processes lack, whoever starts them.
NOT_ORDINARY = {
    "mount namespace", "read-only root", "network namespace", "pid namespace", "ipc namespace",
    "uts namespace", "user namespace", "no capabilities", "no_new_privs", "seccomp filter",
    "disk", "files", "cpus",
}  # fmt: skip


def examined(*args: str, home: Path) -> tuple[Done, Any]:
    """The report as JSON; in a home of its own, so that what stays behind is seen."""
    temp = home / "tmp"
    temp.mkdir()
    env = environment(TMPDIR=str(temp), XDG_CACHE_HOME=str(home / "cache"))
    done = coderunner("doctor", "--json", *args, env=env)
    assert list(temp.iterdir()) == []
    assert [path for path in (home / "cache").rglob("*") if "doctor" in path.name] == []
    return done, as_json(done)


def states(report: Any) -> dict[str, str]:
    return {control["name"]: control["state"] for control in report["controls"]}


def test_the_sandbox_holds_what_it_promises(tmp_path: Path) -> None:
    require_sandbox()
    done, report = examined(home=tmp_path)
    found = states(report)
    assert set(found) == WALLS | METERS | LIMITS | EXTRAS
    assert {name for name in WALLS if found[name] != "enforced"} == set()
    metered = {found[name] for name in METERS}
    assert metered == ({"enforced"} if report["claimed"] == "full" else {"sampled"})
    assert report["isolation"] == report["claimed"]
    assert (report["ok"], report["error"], done.returncode) == (True, None, 0)
    assert found["nothing left behind"] == "enforced"


@pytest.mark.as_root
def test_as_root_everything_is_the_kernels_work(tmp_path: Path) -> None:
    require_sandbox()
    _, report = examined(home=tmp_path)
    if report["isolation"] != "full":
        leave_out("there is no cgroup to be had here", fix="see coderunner doctor")
    assert {name for name in WALLS | METERS | LIMITS if states(report)[name] != "enforced"} == set()


def test_ordinary_processes_are_found_out(tmp_path: Path) -> None:
    done, report = examined("--engine", "process", home=tmp_path)
    found = states(report)
    assert {name for name in NOT_ORDINARY if found[name] != "absent"} == set()
    assert {found[name] for name in METERS} == {"sampled"}
    assert found["wall time"] == found["nothing left behind"] == "enforced"
    assert (report["isolation"], report["ok"], done.returncode) == ("none", False, 3)
    assert all(c["fix"] for c in report["controls"] if c["state"] == "absent")


@pytest.mark.parametrize(
    ("args", "code"),
    [(("--engine", "process", "--isolation", "none"), 0), (("--isolation", "vm"), 3)],
)
def test_the_exit_code_is_about_what_was_asked_for(args: tuple[str, ...], code: int) -> None:
    require_sandbox()
    done = coderunner("doctor", *args)
    assert done.returncode == code
    verdict = "meets" if code == 0 else "does not meet"
    assert verdict in done.stdout.decode().splitlines()[-1]


def test_the_matrix_is_for_people(tmp_path: Path) -> None:
    done = coderunner("doctor", "--engine", "process")
    text = done.stdout.decode()
    assert "CONTROL" in text
    assert "network namespace" in text
    assert "fix: " in text
    assert os.uname().release in text
    assert "\x1b" not in text
    assert done.stderr == b""


def test_an_engine_that_cannot_start_is_explained() -> None:
    """In a user namespace that may not have any further ones, no box can be made."""
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    argv = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
    if subprocess.run([*argv, "true"], capture_output=True, check=False).returncode:
        leave_out("user namespaces cannot be restricted here", fix="run as root")
    done = subprocess.run(
        [*argv, *COMMAND, "doctor", "--json"],
        capture_output=True, check=False, env=environment(), timeout=TIMEOUT_S,
    )  # fmt: skip
    report = as_json(done)
    assert (done.returncode, report["ok"], report["isolation"]) == (3, False, None)
    assert report["error"]["type"] == "EngineUnavailable"
    assert report["error"]["hint"]
    assert report["controls"] == []
    assert report["languages"]


class Braggart(Engine):
    """Ordinary processes that claim to be a sandbox."""

    name = "braggart"

    def __init__(self) -> None:
        self._engine = ProcessEngine()

    async def capabilities(self) -> Capabilities:
        names = (c.name for c in (await self._engine.capabilities()).controls)
        return Capabilities(Isolation.FULL, tuple(Control(name, State.ENFORCED) for name in names))

    async def start(self, job: Job) -> Process:
        return await self._engine.start(job)

    async def aclose(self) -> None:
        await self._engine.aclose()


class Broken(Braggart):
    async def capabilities(self) -> Capabilities:
        raise EngineUnavailable("it does not start", hint="turn it off and on again")


async def test_claims_are_not_taken_for_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "braggart", lambda settings: Braggart())
    report = await examine(Settings(engine="braggart"))
    found = {finding.name: finding.state for finding in report.findings}
    assert {name for name in NOT_ORDINARY - {"cpus"} if found[name] is not State.ABSENT} == set()
    assert (report.claimed, report.proven, report.ok) == (Isolation.FULL, Isolation.NONE, False)


async def test_the_reason_of_a_broken_engine_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "broken", lambda settings: Broken())
    report = await examine(Settings(engine="broken"))
    assert report.failure is not None
    assert report.failure.hint == "turn it off and on again"
    assert (report.proven, report.ok, report.findings) == (None, False, ())


LEVELS = [
    ([], Isolation.VM),
    ([(Kind.WALL, State.ENFORCED), (Kind.METER, State.ENFORCED)], Isolation.VM),
    ([(Kind.WALL, State.ENFORCED), (Kind.METER, State.SAMPLED)], Isolation.SAMPLED),
    ([(Kind.WALL, State.ENFORCED), (Kind.METER, State.ABSENT)], Isolation.NONE),
    ([(Kind.WALL, State.ABSENT), (Kind.METER, State.ENFORCED)], Isolation.NONE),
    ([(Kind.LIMIT, State.ABSENT)], Isolation.NONE),
    ([(Kind.EXTRA, State.ABSENT)], Isolation.VM),
]


@pytest.mark.parametrize(("controls", "level"), LEVELS)
def test_levels(controls: list[tuple[Kind, State]], level: Isolation) -> None:
    assert level_of(Finding("x", kind, state, "") for kind, state in controls) is level


def test_a_limit_that_is_refused_is_no_hole() -> None:
    refused = Finding("cpus", Kind.LIMIT, State.ABSENT, "refused", claimed=False)
    assert level_of([refused]) is Isolation.VM


def test_leftovers_are_noticed(tmp_path: Path) -> None:
    before = Traces.now()
    with open(tmp_path / "file", "w"), subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            left = Traces.now().left_since(before)
        finally:
            sleeper.kill()
    assert left == [f"process {sleeper.pid}", "1 open descriptors"]
    assert Traces.now().left_since(before) == []


@pytest.mark.as_root
async def test_a_spawners_cgroup_is_recognised() -> None:
    """Or a leftover one would not be, either."""
    require_sandbox()
    engine = open_engine("linux")
    try:
        capabilities = await engine.capabilities()
        if capabilities.isolation is not Isolation.FULL:
            leave_out("there is no cgroup to be had here", fix="see coderunner doctor")
        assert Traces.now().cgroups
    finally:
        await engine.aclose()
