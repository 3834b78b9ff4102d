"""What a conversation with a service is made of.

A conversation is a generator: it yields what is to be done next, and is sent what came of it. It
knows nothing of sockets, so the same one serves callers who block and callers who do not.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from coderunner.model import Output, Stream

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Send:
    """A request. What came of it is a `Head`; what an earlier one still has to say is dropped."""

    method: str
    path: str
    body: bytes | None = None
    accept: str = "application/json"
    silence_s: float = 60  # for so long nothing may come


@dataclass(frozen=True, slots=True)
class Head:
    status: int
    headers: Mapping[str, str]  # names in lower case


@dataclass(frozen=True, slots=True)
class More:
    """The next bytes of the answer; none at its end."""


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Tell:
    """Something for the caller's listener, if there is one: `data` was printed."""

    stream: Stream
    data: bytes


@dataclass(frozen=True, slots=True)
class Missed:
    """So many bytes were printed here, and are lost."""

    stream: Stream
    count: int


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more comes of this stream."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compiler has said on stdout and stderr; the program comes next."""

    said: tuple[Output, Output]


Step = Send | More | Pause | Tell | Missed | Ended | Compiled
Talk = Generator[Step, Any, T]


def send(request: Send) -> Talk[Head]:
    head = yield request
    assert isinstance(head, Head), "what drivers answer to Send"
    return head


def more() -> Talk[bytes]:
    chunk = yield More()
    assert isinstance(chunk, bytes), "what drivers answer to More"
    return chunk
