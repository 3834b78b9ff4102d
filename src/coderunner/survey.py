"""Which languages work on this machine: every toolchain, looked for at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from coderunner.engines.base import ToolchainSource
from coderunner.errors import ToolchainMissing
from coderunner.language import Language
from coderunner.toolchain import Toolchain


@dataclass(frozen=True, slots=True)
class Finding:
    """A language with its toolchain, or with the reason why there is none."""

    language: Language
    toolchain: Toolchain | None = None
    missing: ToolchainMissing | None = None


async def survey(languages: Iterable[Language], toolchains: ToolchainSource) -> list[Finding]:
    return await asyncio.gather(*(_look(language, toolchains) for language in languages))


async def _look(language: Language, toolchains: ToolchainSource) -> Finding:
    try:
        return Finding(language, toolchain=await toolchains.find(language))
    except ToolchainMissing as error:
        return Finding(language, missing=error)
