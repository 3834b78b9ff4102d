"""The whole course of it: start the engine, try everything, look for leftovers."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from coderunner.cancelling import cancel
from coderunner.doctor import bait, host
from coderunner.doctor.leftovers import Traces, end_survivors
from coderunner.doctor.report import Finding, Kind, Report
from coderunner.doctor.trials import TRIALS, Trial
from coderunner.engines import open_engine
from coderunner.engines.base import Capabilities, Control, Engine, State
from coderunner.errors import EngineUnavailable, StartFailed
from coderunner.execution import execute
from coderunner.exposure import to_show
from coderunner.model import File, Isolation, Job, Limits, Mount, Outcome
from coderunner.settings import Settings
from coderunner.survey import survey
from coderunner.toolchain import Toolchains
from coderunner.workspace import Workspace

_AT_ONCE = 4
_ENV = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
_SET_BY_ENGINES = {"HOME", "TMPDIR", "PWD", "LC_CTYPE"}
_EXTRA = {"landlock"}
_BUG = "it should hold here: please report this, with the output of coderunner doctor --json"
_THIS = "coderunner doctor"
_NO_BOX = (
    "the engine started but could not make a box; in a container or a user namespace, see that "
    "CAP_SYS_ADMIN, or making user namespaces, is allowed there"
)
_FIXES = {Isolation.NONE: "use the linux engine: --engine linux"}


async def examine(settings: Settings) -> Report:
    """Try everything that the engine of these settings should hold back."""
    engine = open_engine(settings.engine, settings)
    claimed: Isolation | None = None
    findings: tuple[Finding, ...] = ()
    failure: EngineUnavailable | None = None
    before = Traces.now()
    try:
        capabilities = await engine.capabilities()
        try:
            findings = await _try_all(engine, capabilities, settings, before)
            claimed = capabilities.isolation
        except (EngineUnavailable, StartFailed) as error:
            failure = _without_a_box(error)
    except EngineUnavailable as error:
        failure = error
    finally:
        await engine.aclose()
    languages = settings.languages()
    return Report(
        engine=engine.name,
        machine=host.machine(),
        wanted=settings.min_isolation,
        claimed=claimed,
        findings=findings,
        toolchains=tuple(await survey(languages, Toolchains(settings.toolchains))),
        failure=failure,
    )


def _without_a_box(error: EngineUnavailable | StartFailed) -> EngineUnavailable:
    """An engine knows best what would help, unless its hint is to ask the doctor."""
    knows = isinstance(error, EngineUnavailable) and error.hint and _THIS not in error.hint
    return EngineUnavailable(error.message, hint=error.hint if knows else _NO_BOX)


async def _try_all(
    engine: Engine, capabilities: Capabilities, settings: Settings, before: Traces
) -> tuple[Finding, ...]:
    with Workspace() as workspace:
        workspace.add(_scripts())
        bench = _Bench(engine, capabilities, workspace, await _interpreter(engine, settings))
        walls = await bench.try_walls(settings)
        limits = await _all_or_none(list(map(bench.try_limit, TRIALS)))
        daemon = await bench.try_daemon()
    during = Traces.now()
    await engine.aclose()
    left = Traces.now(during.children).left_since(before)
    tidy = bench.finding(
        "nothing left behind", Kind.EXTRA, not left, ", ".join(left) or
        "no process, cgroup, file or descriptor is left",
    )  # fmt: skip
    return (*walls, daemon, *limits, tidy)


async def _all_or_none(trials: list[Coroutine[None, None, Finding]]) -> list[Finding]:
    """Every finding; if one cannot be had, the others are called off before its error is told."""
    tasks = [asyncio.create_task(trial) for trial in trials]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await cancel(tasks)


class _Bench:
    """Runs trials on one engine and turns what happened into findings."""

    def __init__(
        self,
        engine: Engine,
        capabilities: Capabilities,
        workspace: Workspace,
        interpreter: _Interpreter,
    ) -> None:
        self._engine = engine
        self._interpreter = interpreter
        self._claims = {control.name: control for control in capabilities.controls}
        self._fix = _FIXES.get(capabilities.isolation, _BUG)
        self._workspace = workspace
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def try_walls(self, settings: Settings) -> list[Finding]:
        places = [Path(tempfile.gettempdir())]
        writable, hidden = ["/", "/usr", "/etc"], bait.HIDDEN
        if self._interpreter.image:
            hidden = ()  # it has such files of its own, and homes that nobody may enter
        else:
            places += _own_place(settings.cache_dir)
            writable += ["/dev", *_python_prefixes()]
        laying = bait.laid_out(places, list(dict.fromkeys(writable)), hidden)
        with laying as (laid, listeners):
            argument = json.dumps(laid.for_probe())
            outcome = await self._run(("probe.py", argument), Limits())
            visitors = listeners.visitors()
        found = _answers(outcome)
        environment = found.pop("environment")
        if visitors:
            found["network namespace"] = (False, f"{visitors} connections reached the host")
        found["environment"] = _judge_environment(environment)
        return [
            self.finding(name, Kind.EXTRA if self._is_extra(name) else Kind.WALL, held, said)
            for name, (held, said) in found.items()
        ]

    def _is_extra(self, name: str) -> bool:
        return name in _EXTRA or (name in self._claims and self._claims[name].extra)

    async def try_limit(self, trial: Trial) -> Finding:
        try:
            outcome = await self._run(("breach.py", trial.breach), trial.limits)
        except EngineUnavailable as error:
            if trial.kind is not Kind.LIMIT:
                raise
            # A limit that the engine cannot hold, and says so by refusing it.
            return self.finding(trial.control, trial.kind, False, error.message, trial.claim)
        return self.finding(
            trial.control, trial.kind, trial.held(outcome), trial.proof(outcome), trial.claim
        )

    async def try_daemon(self) -> Finding:
        token = f"coderunner-doctor-{secrets.token_hex(8)}"
        outcome = await self._run(("breach.py", "daemon", token), Limits())
        survivors = end_survivors(token)
        said = "a daemon was dead when its run ended"
        if not outcome.ok:
            said = f"no daemon could be started: {outcome.stderr.text.strip()[-200:]}"
        elif survivors:
            said = f"a daemon outlived its run (process {survivors[0]})"
        return self.finding("no survivors", Kind.WALL, outcome.ok and not survivors, said)

    def finding(self, name: str, kind: Kind, held: bool, proof: str, claim: str = "") -> Finding:
        """The trial decides whether a control holds; where it does, the engine may still say that
        it holds it in a weaker way."""
        said = self._claims.get(name) or self._claims.get(claim)
        claimed = said or Control(name, State.ENFORCED)
        state = claimed.state if held else State.ABSENT
        fix = "" if state is State.ENFORCED else claimed.fix or self._fix
        promised = claimed.state is not State.ABSENT
        return Finding(name, kind, state, proof, claimed.reason, fix, promised)

    async def _run(self, arguments: tuple[str, ...], limits: Limits) -> Outcome:
        job = Job(
            argv=(self._interpreter.path, "-I", "-S", "-B", *arguments),
            workspace=self._workspace.path,
            env=_ENV,
            mounts=self._interpreter.mounts,
            limits=limits,
            image=self._interpreter.image,
        )
        async with self._turns:
            return await execute(self._engine, job)


@dataclass(frozen=True, slots=True)
class _Interpreter:
    """What runs the trials."""

    path: str
    mounts: tuple[Mount, ...] = ()
    image: str = ""


async def _interpreter(engine: Engine, settings: Settings) -> _Interpreter:
    """Our own Python, or that of an image where the engine's programs are in images."""
    elsewhere = engine.toolchains(settings.toolchains)
    if elsewhere is None:
        python = os.path.realpath(_python())
        shown = to_show(python, _python_prefixes())
        return _Interpreter(python, tuple(Mount(Path(os.path.realpath(p)), p) for p in shown))
    found = await elsewhere.find(settings.languages().get("python"))
    return _Interpreter(found.tools["python"], image=found.image)


def _scripts() -> Iterable[File]:
    package = resources.files("coderunner.doctor")
    for name in ("probe.py", "breach.py"):
        yield File(name, package.joinpath(name).read_bytes())


def _python() -> str:
    """The interpreter behind the virtual environment: it needs none of its packages."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def _python_prefixes() -> tuple[str, ...]:
    return (sys.base_prefix, sys.base_exec_prefix)


def _own_place(directory: Path) -> list[Path]:
    """A directory in the user's home that is ours to put a file into, if there is one."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return []
    return [directory] if os.access(directory, os.W_OK) else []


def _answers(outcome: Outcome) -> dict[str, Any]:
    try:
        answers: dict[str, Any] = json.loads(outcome.stdout.data)
    except ValueError:
        raise EngineUnavailable(
            f"the probe gave no answer: ended by {outcome.ended_by.value}, "
            f"exit code {outcome.exit_code}: {outcome.stderr.text.strip()[-500:]}",
            hint=_BUG,
        ) from None
    return answers


def _judge_environment(seen: Mapping[str, str]) -> tuple[bool, str]:
    """None of our own variables may be there, and HOME must be another one."""
    ours = sorted(set(seen) & set(os.environ) - set(_ENV) - _SET_BY_ENGINES)
    if "HOME" in os.environ and seen.get("HOME") == os.environ["HOME"]:
        ours.append("HOME")
    return not ours, f"variables of the host: {', '.join(ours) or 'none'}"
