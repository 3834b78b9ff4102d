"""What a client says: first the program, then what it does to it."""

from __future__ import annotations

import signal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from coderunner.engines.base import SIGNALS
from coderunner.model import Terminal
from coderunner.server.problems import Problem, of_findings
from coderunner.server.v1.asked import RunRequest

_STRICT = ConfigDict(extra="forbid", strict=True)
_INVALID = 1007
_KILL = "KILL"
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


Said = Annotated[TypedInput | EndOfInput | GivenSignal | Resize, Field(discriminator="type")]
_SAID: TypeAdapter[TypedInput | EndOfInput | GivenSignal | Resize] = TypeAdapter(Said)
_FIRST = TypeAdapter(LiveRequest)


class Malformed(Problem):
    """A message that is not even JSON: there is a code of its own for that."""

    code = 1007


def program_of(text: str) -> LiveRequest:
    return _read(_FIRST, text)


def said_in(text: str) -> TypedInput | EndOfInput | GivenSignal | Resize:
    return _read(_SAID, text)
