"""Limits: whatever is asked for, there is a limit that an engine can hold, or a clear refusal."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coderunner.cli.limits import FLAGS, from_flags
from coderunner.engines.linux.boxes import protocol
from coderunner.errors import InvalidLimits, StartFailed
from coderunner.model import EndedBy, Limits
from coderunner.settings import CEILING
from tests.properties.conftest import Boxes
from tests.properties.effort import examples
from tests.properties.refusal import refusal

FIELDS = [field.name for field in dataclasses.fields(Limits)]
OPEN = {"cpu_ms", "cpus", "address_space_mb"}

anything = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.binary(max_size=10)
    | st.lists(st.integers(), max_size=2)
    | st.sampled_from([10**400, -(10**400), 10**5000, 1 << 63, 5e-324, 1e308, 1j])
)


@pytest.mark.unit
@given(name=st.sampled_from(FIELDS), value=anything)
@example(name="wall_ms", value=10**5000)
@example(name="cpus", value=10**400)
@example(name="cpus", value=math.nan)
@example(name="cpus", value=math.inf)
@example(name="memory_mb", value="9" * 10_000)
def test_any_value_is_a_limit_or_is_refused(name: str, value: Any) -> None:
    if error := refusal(InvalidLimits, lambda: Limits(**{name: value})):
        assert error.message.startswith(name)
        assert len(error.message) < 300
        return
    limits = Limits(**{name: value})
    kept = getattr(limits, name)
    assert kept == value
    assert (kept is None and name in OPEN) or (type(kept) in (int, float) and 0 < kept < math.inf)
    # And the spawner takes it: through JSON and back it is still sound.
    asked = json.loads(json.dumps(dataclasses.asdict(limits)))
    job = {"argv": ["x"], "env": {}, "mounts": [], "collect": True, "directory": "/workspace"}
    protocol.check_start({**job, "limits": asked})


sensible = st.builds(
    Limits,
    wall_ms=st.integers(1, 10**9),
    cpu_ms=st.none() | st.integers(1, 10**9),
    memory_mb=st.integers(1, 10**9),
    cpus=st.none() | st.floats(0.001, 1000),
)


@pytest.mark.unit
@given(asked=sensible, ceiling=sensible)
def test_the_ceiling_refuses_what_is_above_it_and_nothing_else(
    asked: Limits, ceiling: Limits
) -> None:
    pairs = [(getattr(asked, name), getattr(ceiling, name)) for name in FIELDS]
    above = any(value > most for value, most in pairs if None not in (value, most))
    error = refusal(InvalidLimits, lambda: asked.check_below(ceiling))
    assert (error is not None) == above
    assert error is None or error.hint


number = st.from_regex(r"\A[0-9]{0,20}(\.[0-9]{0,20})?\Z")
texts = st.text(max_size=12) | st.builds(
    str.__add__, number, st.sampled_from(["", "s", "ms", "m", "K", "M", "G", "GiB", "B", "x", "e9"])
)


@pytest.mark.unit
@given(given_flags=st.dictionaries(st.sampled_from([*FLAGS]), texts, max_size=3))
def test_any_text_of_a_flag_is_a_limit_or_is_refused(given_flags: dict[str, str]) -> None:
    if error := refusal(InvalidLimits, lambda: from_flags(given_flags)):
        assert str(error)
        return
    for value in dataclasses.astuple(from_flags(given_flags)):
        assert value is None or 0 < value < math.inf


def small_or_most(name: str, *, least: int = 1) -> st.SearchStrategy[int]:
    """As little as can be asked for, as much as may be, and all between."""
    most = getattr(CEILING, name)
    return st.integers(least, least + 16) | st.integers(least, most) | st.just(most)


ENDINGS = {*EndedBy} - {EndedBy.KILLED}  # nobody asked for that
# With fewer a program cannot be loaded: its libraries are files, and need room.
FLOORS = {"open_files": 4, "address_space_mb": 64}
TRIED = [name for name in FIELDS if name not in ("wall_ms", "cpus")]  # no cpus without a cgroup
valid = st.fixed_dictionaries(
    {"wall_ms": st.sampled_from([1, 20, 2000])},
    optional={name: small_or_most(name, least=FLOORS.get(name, 1)) for name in TRIED},
)


@pytest.mark.engines
@examples(60)
@given(limits=valid)
@example(limits={"memory_mb": 1})
@example(limits={"files": 1, "disk_mb": 1})
@example(limits={"flood_bytes": 1, "output_bytes": 1})
@example(
    limits={name: getattr(CEILING, name) for name in FIELDS if name not in ("wall_ms", "cpus")}
)
def test_a_run_ends_in_a_known_way_under_any_valid_limits(
    boxes: Boxes, limits: dict[str, int]
) -> None:
    outcome = boxes.run("/bin/echo", "hi", limits={"wall_ms": 2000, **limits})
    assert outcome.ended_by in ENDINGS
    if outcome.ok:
        kept = limits.get("output_bytes", 3)
        assert outcome.stdout.data == (b"hi\n" if kept >= 3 else {1: b"h", 2: b"h\n"}[kept])
    assert boxes.run("/bin/echo", "hi").ok


@pytest.mark.engines
def test_few_open_files_lose_no_output(boxes: Boxes) -> None:
    outcome = boxes.run("/bin/echo", "hi", limits={"open_files": 4})
    assert (outcome.ok, outcome.stdout.data) == (True, b"hi\n")


@pytest.mark.engines
def test_a_small_address_space_is_no_fault_of_the_machine(boxes: Boxes) -> None:
    with pytest.raises(StartFailed, match="address_space_mb=1 is too little"):
        boxes.run("/bin/echo", "hi", limits={"address_space_mb": 1})
