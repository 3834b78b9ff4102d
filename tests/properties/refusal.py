"""For properties that say: it works, or it is refused in the one right way."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from coderunner.errors import CodeRunnerError

Refusal = TypeVar("Refusal", bound=CodeRunnerError)


def refusal(kind: type[Refusal], work: Callable[[], object]) -> Refusal | None:
    """The error that this work raised, None if it did not; any other kind goes on its way."""
    try:
        work()
    except kind as error:
        return error
    return None
