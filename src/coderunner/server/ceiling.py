"""The most that callers of this service may ask for."""

from __future__ import annotations

from dataclasses import fields

from coderunner.model import Limits
from coderunner.settings import Settings

SETTING = "CODERUNNER_SERVER__CEILING"


def ceiling_of(settings: Settings) -> Limits:
    """Nobody may have more than this installation gives at all. What the service does not limit is
    not limited here either: a limit that nobody asked for may be one that cannot be held here."""
    mine = settings.server.ceiling
    lowered = mine.capped(settings.ceiling)
    unlimited = [item.name for item in fields(mine) if getattr(mine, item.name) is None]
    return lowered.but(dict.fromkeys(unlimited))
