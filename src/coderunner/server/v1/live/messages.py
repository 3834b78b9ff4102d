"""What a client says: first the program, then what it does to it."""

from __future__ import annotations

import signal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from coderunner.engines.base import SIGNALS
from coderunner.model import Terminal
from coderunner.server.reading import parsed, read_as
from coderunner.server.v1.asked import RunRequest

_STRICT = ConfigDict(extra="forbid", strict=True)
_KILL = "KILL"
_WHAT = "the message"
_NUMBERS = {number.name.removeprefix("SIG"): int(number) for number in map(signal.Signals, SIGNALS)}

Size = Annotated[int, Field(gt=0, le=0xFFFF)]


class GivenTerminal(BaseModel):
    """The program's stdin, stdout and stderr are one terminal of this size."""

    model_config = _STRICT

    rows: Size = 24
    columns: Size = 80

    def of_engine(self) -> Terminal:
        return Terminal(self.rows, self.columns)


class LiveRequest(RunRequest):
    """A program as in `POST /v1/run`. Its `stdin` comes before all that is typed."""

    terminal: GivenTerminal | None = None


class TypedInput(BaseModel):
    """Input for the program. A binary message is the same."""

    model_config = _STRICT

    type: Literal["stdin"]
    data: str


class EndOfInput(BaseModel):
    model_config = _STRICT

    type: Literal["eof"]


class GivenSignal(BaseModel):
    """A signal for the program. `KILL` ends the run, with all that it has started."""

    model_config = _STRICT

    type: Literal["signal"]
    name: Literal["HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "WINCH", "KILL"]

    @property
    def number(self) -> int | None:
        """None: what is not for the program to know of."""
        return None if self.name == _KILL else _NUMBERS[self.name]


class Resize(BaseModel):
    model_config = _STRICT

    type: Literal["resize"]
    rows: Size
    columns: Size


Said = TypedInput | EndOfInput | GivenSignal | Resize


class _Message(RootModel[Said]):
    root: Said = Field(discriminator="type")


def program_in(text: str) -> LiveRequest:
    return read_as(LiveRequest, parsed(text, _WHAT), _WHAT)


def said_in(text: str) -> Said:
    return read_as(_Message, parsed(text, _WHAT), _WHAT).root
