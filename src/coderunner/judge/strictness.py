"""How JSON becomes one of the judge's dataclasses: nothing is guessed, nothing is passed over."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field

T = TypeVar("T")

STRICT = ConfigDict(extra="forbid", strict=True)
"""For `__pydantic_config__` of a dataclass."""

Lenient = Annotated[T, Field(strict=False)]
"""What JSON can only say with a list or a text: a tuple, a member of an enum."""
