"""Which limits are broken, and what has to happen then."""

from __future__ import annotations

from dataclasses import dataclass

from coderunner.doctor.report import Kind
from coderunner.model import MIB, EndedBy, Limits, Outcome

_REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Trial:
    """One way of breaking a limit: a function of breach.py, and the limit that is to stop it.

    The limit holds if the run was ended for this reason, or if the system call was refused and
    the program lived on to tell.
    """

    control: str
    kind: Kind
    breach: str
    limits: Limits
    ended_by: EndedBy | None = None
    claim: str = ""  # the engine's name for this control, where it is another

    def held(self, outcome: Outcome) -> bool:
        return outcome.ended_by is self.ended_by or (
            outcome.ok and outcome.stdout.text.startswith(_REFUSED)
        )

    def proof(self, outcome: Outcome) -> str:
        said = (outcome.stdout.text or outcome.stderr.text).strip()[-200:]
        if outcome.ended_by is self.ended_by:
            usage = outcome.usage
            return (
                f"ended by {outcome.ended_by.value.replace('_', ' ')} after {usage.wall_ms:.0f} ms"
                f" ({usage.memory_peak_kb // 1024} MB, cpu {usage.cpu_ms:.0f} ms)"
            )
        if outcome.ok:
            return said
        return f"ended by {outcome.ended_by.value}, exit code {outcome.exit_code}: {said}"


TRIALS = (
    Trial("memory", Kind.METER, "memory", Limits(memory_mb=64), EndedBy.MEMORY),
    Trial(
        "memory of the tree",
        Kind.METER,
        "memory_of_tree",
        Limits(memory_mb=96),
        EndedBy.MEMORY,
        claim="memory",
    ),
    Trial("processes", Kind.METER, "processes", Limits(processes=16), EndedBy.PROCESSES),
    Trial(
        "threads", Kind.METER, "threads", Limits(processes=16), EndedBy.PROCESSES, claim="processes"
    ),
    Trial("cpu time", Kind.METER, "cpu_time", Limits(cpu_ms=300), EndedBy.CPU_TIME),
    Trial("wall time", Kind.LIMIT, "wall_time", Limits(wall_ms=500), EndedBy.WALL_TIME),
    Trial("output", Kind.LIMIT, "output", Limits(flood_bytes=MIB), EndedBy.OUTPUT),
    Trial("disk", Kind.LIMIT, "disk", Limits(disk_mb=8)),
    Trial("files", Kind.LIMIT, "files", Limits(files=100), claim="disk"),
    Trial("open files", Kind.LIMIT, "open_files", Limits(open_files=64)),
    Trial("address space", Kind.LIMIT, "address_space", Limits(address_space_mb=512)),
    Trial("cpus", Kind.LIMIT, "cpus", Limits(cpus=0.25)),
)
