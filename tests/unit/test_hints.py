"""What is said of a limit that cannot be held, or is too tight: the hint has to help."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coderunner import EngineUnavailable, Limits
from coderunner.engines.linux import engine as linux
from coderunner.engines.linux.process import _failure
from coderunner.model import Job

pytestmark = pytest.mark.unit

NO_CGROUP = {"cgroup": 0, "why_no_cgroup": "there is no cgroup", "throttles": False, "landlock": 7}
NO_CPU = {**NO_CGROUP, "cgroup": 2}


def test_too_little_address_space_is_no_matter_of_the_file() -> None:
    error = _failure("python3", "start", "Cannot allocate memory: address_space_mb=1 is too little")
    assert "raise address_space_mb" in error.hint
    assert "executable" not in error.hint
    assert "executable" in _failure("x", "start", "No such file or directory").hint


async def refusal(monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any]) -> EngineUnavailable:
    engine = linux.LinuxEngine()

    async def spawner() -> object:
        return SimpleNamespace(facts=facts)

    monkeypatch.setattr(engine, "_running_spawner", spawner)
    with pytest.raises(EngineUnavailable) as caught:
        await engine.start(Job(("true",), Path(), limits=Limits(cpus=1)))
    return caught.value


@pytest.mark.parametrize("facts", [NO_CGROUP, NO_CPU])
@pytest.mark.parametrize("uid", [0, 1000])
async def test_cpus_that_cannot_be_held(
    monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], uid: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    error = await refusal(monkeypatch, facts)
    assert "cannot be held here: the" in error.message
    assert error.hint.endswith("; or leave cpus out")
    assert ("as root" in error.hint) == (uid != 0)


@pytest.mark.parametrize("uid", [0, 1000])
def test_who_is_root_is_not_told_to_become_root(monkeypatch: pytest.MonkeyPatch, uid: int) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    fixes = {control.fix for control in linux._meters(NO_CGROUP)}
    assert len(fixes) == 1
    assert ("/sys/fs/cgroup" in fixes.pop()) == (uid == 0)
