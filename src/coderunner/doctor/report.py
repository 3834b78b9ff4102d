"""What came out of an examination."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from coderunner.engines.base import State
from coderunner.errors import EngineUnavailable
from coderunner.model import Isolation
from coderunner.survey import Finding as ToolchainFinding


class Kind(StrEnum):
    """What a control is for. All but the extras decide about the isolation level."""

    WALL = "wall"  # keeps a program in
    METER = "meter"  # keeps the whole tree small
    LIMIT = "limit"  # keeps it small in other ways
    EXTRA = "extra"  # a second wall, or tidiness


@dataclass(frozen=True, slots=True)
class Finding:
    """One control: whether it holds, how we know, and what would help if it does not."""

    name: str
    kind: Kind
    state: State
    proof: str  # what was tried, and what came of it
    reason: str = ""  # the engine's own words, where it has any
    fix: str = ""
    claimed: bool = True  # the engine says that it holds, or says nothing about it


@dataclass(frozen=True, slots=True)
class Machine:
    kernel: str
    architecture: str
    cgroup: str  # v1, v2, hybrid or none
    landlock_abi: int
    boxes: str  # whether what makes them is compiled
    user: str
    python: str


@dataclass(frozen=True, slots=True)
class Report:
    """`failure` is set, and nothing was tried, if the engine could not start."""

    engine: str
    machine: Machine
    wanted: Isolation
    claimed: Isolation | None
    findings: tuple[Finding, ...]
    toolchains: tuple[ToolchainFinding, ...]
    failure: EngineUnavailable | None = None

    @property
    def proven(self) -> Isolation | None:
        """What the engine claims, as far as the trials bear it out."""
        if self.claimed is None:
            return None
        held = level_of(self.findings)
        if self.claimed is Isolation.VM and held.at_least(Isolation.SAMPLED):
            return Isolation.VM  # which may have either kind of meters
        return min(self.claimed, held, key=lambda level: level.rank)

    @property
    def ok(self) -> bool:
        return self.proven is not None and self.proven.at_least(self.wanted)


def level_of(findings: Iterable[Finding]) -> Isolation:
    """The highest level that these findings allow."""
    findings = [finding for finding in findings if finding.kind is not Kind.EXTRA]
    absent = [finding for finding in findings if finding.state is State.ABSENT]
    # A limit that the engine refuses to promise is no hole. One that has no effect is.
    if any(finding.kind is not Kind.LIMIT or finding.claimed for finding in absent):
        return Isolation.NONE
    if any((f.kind, f.state) == (Kind.METER, State.SAMPLED) for f in findings):
        return Isolation.SAMPLED
    return Isolation.VM  # whether it has a kernel of its own, only the engine can say
