"""Removes what processes that are no more have left."""

from __future__ import annotations

from coderunner.engines import open_engine
from coderunner.settings import Settings
from coderunner.workspace.root import process_root, release_root


async def clean(settings: Settings) -> list[str]:
    """In words, what the engine of these settings has found. Directories of programs go as well,
    as they do whenever a process makes its first."""
    engine = open_engine(settings.engine, settings)
    try:
        return await engine.clean()
    finally:
        await engine.aclose()
        process_root()
        release_root()
