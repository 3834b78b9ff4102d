"""Which languages can be run here: looked at now and then, however often somebody asks."""

from __future__ import annotations

import asyncio
import time

from coderunner.runner import Runner
from coderunner.survey import Finding, survey

_KEPT_S = 10.0


class Surveyed:
    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._findings: dict[str, Finding] = {}
        self._until = 0.0
        self._looking = asyncio.Lock()

    async def findings(self, in_use: set[str]) -> list[Finding]:
        """Of every language. Where a look may take a download, only at those that are in use."""
        async with self._looking:
            if time.monotonic() >= self._until:
                await self._look(in_use)
                self._until = time.monotonic() + _KEPT_S
        return [
            self._findings.get(language.name, Finding(language))
            for language in self._runner.languages
        ]

    async def _look(self, in_use: set[str]) -> None:
        fetches = self._runner.toolchains.fetches
        wanted = [one for one in self._runner.languages if one.name in in_use or not fetches]
        found = await survey(wanted, self._runner.toolchains)
        self._findings = {finding.language.name: finding for finding in found}
