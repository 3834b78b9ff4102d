"""The process engine: what it says of itself."""

from __future__ import annotations

import pytest

from coderunner.engines.base import State
from coderunner.engines.process import ProcessEngine
from coderunner.model import Isolation
from tests.engines.bench import Bench
from tests.support import require_sandbox

pytestmark = pytest.mark.engines


async def test_it_says_that_it_is_no_boundary(process_engine: ProcessEngine) -> None:
    capabilities = await process_engine.capabilities()
    assert capabilities.isolation is Isolation.NONE
    missing = {control.name for control in capabilities.missing()}
    assert {"mount namespace", "read-only root", "network namespace", "seccomp filter"} <= missing
    for control in capabilities.controls:
        assert control.state is State.ENFORCED or (control.reason and control.fix)


async def test_its_controls_are_named_like_those_of_the_sandbox(linux: Bench) -> None:
    require_sandbox()
    mine = [control.name for control in (await ProcessEngine().capabilities()).controls]
    sandbox = [control.name for control in (await linux.engine.capabilities()).controls]
    assert mine == sandbox
