"""Lists as people write them in one line: with commas, or as JSON."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import BeforeValidator


def listed(value: object) -> object:
    """`a,b` or `["a", "b"]` as a list. Anything else as it is: others say what is wrong with it."""
    if not isinstance(value, str):
        return value
    if not value.lstrip().startswith("["):
        return [name.strip() for name in value.split(",") if name.strip()]
    try:
        return json.loads(value)
    except ValueError:
        return value


def listed_or_all(value: object) -> object:
    return value if value == "all" else listed(value)


Names = Annotated[list[str], BeforeValidator(listed)]
