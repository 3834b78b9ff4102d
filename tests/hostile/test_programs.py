"""Every program of `programs/`: it ends as its first comment says, and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest

from coderunner.model import Outcome
from tests.docker.daemon import LANGUAGES
from tests.engines.every import CONTAINERS, engine_params
from tests.hostile.arena import Arena
from tests.hostile.attack import Attack, attacks, endings
from tests.properties.effort import LONG
from tests.support import require_toolchain

pytestmark = pytest.mark.hostile


WARM = [attack for attack in attacks() if attack.program.language == "python"]
IN_IMAGE = [attack for attack in attacks() if attack.program.language in LANGUAGES]
FIRST = {attack.kind: attack for attack in reversed(IN_IMAGE)}.values()


# One for each kind of wall and meter, where it takes long to try them all.
TELLING = {
    "files/30_secrets.py", "files/35_devices.c", "kernel/51_forbidden_calls.c",
    "network/42_metadata.py", "privilege/56_status.py", "processes/29_kill_process_1.c",
    "resources/01_allocate.py", "resources/03_fork_bomb.c", "resources/05_fill_tmp.py",
    "resources/11_busy_loop.c", "resources/12_sleep.sh", "resources/13_yes.sh",
}  # fmt: skip


def in_containers(engine: Any, attack: Attack) -> Any:
    name = engine.values[0]
    telling = [pytest.mark.telling] if attack.id in TELLING else []
    marks = [*engine.marks, *telling]
    return pytest.param(name, attack, id=f"{name}-{attack.id}", marks=marks)


CASES = [
    *(pytest.param("linux", attack, id=f"linux-{attack.id}") for attack in attacks()),
    *(pytest.param("linux warm", attack, id=f"linux-warm-{attack.id}") for attack in WARM),
    *(in_containers(engine, attack) for engine in engine_params(CONTAINERS) for attack in IN_IMAGE
      if engine.values[0] in attack.places and (LONG or attack in FIRST or attack.id in TELLING)),
]  # fmt: skip


@pytest.mark.parametrize(("arena", "attack"), CASES, indirect=["arena"])
async def test_it_loses(arena: Arena, attack: Attack) -> None:
    program = attack.program
    require_toolchain(program.language)
    result = await arena.run(program, limits=attack.limits, compile_limits=attack.compile_limits)
    if attack.compiles():
        assert result.compilation is not None
        assert endings(result.compilation) & set(attack.compiles()), shown(result.compilation)
        return
    assert result.execution is not None, result.stderr
    outcome = result.execution
    assert outcome.warm == arena.runner.settings.warm
    assert attack.is_said(outcome.stdout.text.strip("\n"), arena.where), shown(outcome)
    assert endings(outcome) & set(attack.ends(arena.where)), shown(outcome)


def shown(outcome: Outcome) -> str:
    ways = " or ".join(sorted(endings(outcome)))
    return f"ended by {ways}: {outcome.stdout.text[-500:]} {outcome.stderr.text[-2000:]}"
