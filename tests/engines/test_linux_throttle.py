"""The one limit that needs a controller of its own: how many cpus a program may keep busy."""

from __future__ import annotations

import pytest

from coderunner.engines.base import State
from coderunner.errors import EngineUnavailable
from tests.engines.bench import Bench
from tests.support import require_sandbox

pytestmark = pytest.mark.engines


async def test_cpus_is_held_or_refused(linux: Bench) -> None:
    require_sandbox()
    controls = (await linux.engine.capabilities()).controls
    [throttle] = [control for control in controls if control.name == "cpus"]
    if throttle.state is State.ENFORCED:
        outcome = await linux.sh("while :; do :; done", cpus=0.2, wall_ms=3000)
        assert outcome.usage.cpu_ms < 0.4 * outcome.usage.wall_ms
    else:
        with pytest.raises(EngineUnavailable, match="cpus"):
            await linux.sh("true", cpus=0.2)
