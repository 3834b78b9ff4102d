"""What a request may use where it does not say so itself."""

from __future__ import annotations

import functools

from coderunner.settings import JudgeSettings, Settings


@functools.cache
def defaults() -> JudgeSettings:
    """This installation's, read once."""
    return Settings().judge
