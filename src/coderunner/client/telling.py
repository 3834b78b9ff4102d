"""What callers want to hear of, told to their sink."""

from __future__ import annotations

from coderunner.capture import Sink
from coderunner.client.steps import Compiled, Ended, Missed, Step, Tell


async def tell(sink: Sink | None, step: Step) -> None:
    if sink is None:
        return
    match step:
        case Tell(stream=stream, data=data):
            await sink(stream, data)
        case Missed(stream=stream, count=count):
            await _tell(sink, "missed", stream, count)
        case Ended(stream=stream):
            await _tell(sink, "ended", stream)
        case Compiled(said=said):
            await _tell(sink, "compiled", said)


async def _tell(sink: Sink, what: str, *facts: object) -> None:
    told = getattr(sink, what, None)
    if told is not None:
        await told(*facts)
