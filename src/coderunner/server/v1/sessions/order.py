"""What was asked for, checked against what this service allows."""

from __future__ import annotations

from coderunner.model import MIB, Limits
from coderunner.server.ceiling import ceiling_of
from coderunner.server.problems import Problem
from coderunner.server.service import Service
from coderunner.server.sessions.store import Wanted
from coderunner.server.v1.order import limits_within
from coderunner.server.v1.sessions.shapes import SessionRequest

_KERNELS = {"python": "python3"}  # of languages that have one
_USUAL = Limits(wall_ms=30_000, memory_mb=512, output_bytes=MIB)
_ANSWER_PER_STREAM = 48  # times as long as a stream a cell's answer may be, with all it displays


def order_of(asked: SessionRequest, service: Service) -> Wanted:
    """Raises an error that says what is wrong."""
    language = service.runner.languages.get(asked.language)
    kernel = _KERNELS.get(language.name)
    if kernel is None:
        raise Problem(
            422,
            "no-sessions",
            f"there are no sessions of {language.title}",
            hint=f"there are sessions of {', '.join(_KERNELS)}",
        )
    mine = service.settings.server
    most = ceiling_of(service.settings)
    output = min(most.output_bytes, mine.answer_kb * 1024 // _ANSWER_PER_STREAM)
    limits = limits_within(most.but({"output_bytes": output}), _USUAL, asked.limits, "limits")
    idle = asked.idle_seconds or mine.session_idle_seconds
    return Wanted(language.name, kernel, limits, idle_seconds=min(idle, mine.session_idle_seconds))
