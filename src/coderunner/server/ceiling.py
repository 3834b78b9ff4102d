"""The most that callers of this service may ask for."""

from __future__ import annotations

from coderunner.model import Limits
from coderunner.settings import Settings

SETTING = "CODERUNNER_SERVER__CEILING"


def ceiling_of(settings: Settings) -> Limits:
    """Nobody may have more than this installation gives at all."""
    return settings.server.ceiling.capped(settings.ceiling)
