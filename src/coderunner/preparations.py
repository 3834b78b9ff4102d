"""Things a language needs that are expensive to make and safe to share, made once and kept.

Go's compiled standard library is one, C++'s precompiled headers are another. A language file says
how to make it (`[prepare.…]`); it is made in a sandbox like everything else, from the toolchain
alone, and later jobs see it and cannot change it. They lie in `<cache>/prepared/`.

What a language cannot do without is made when it is first used. What only saves time (`optional`)
must not cost somebody who runs a single program more than it saves: it is made in the background,
from the second use of the language by the same runner on; or at once, when asked for.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from coderunner.cancelling import cancel
from coderunner.engines.base import Engine
from coderunner.errors import CodeRunnerError
from coderunner.kept import kept_directory
from coderunner.language import Language
from coderunner.model import Mount
from coderunner.notices import Notice
from coderunner.preparing import Preparing, is_there
from coderunner.toolchain import Toolchain

_ENOUGH_USES = 2  # of a language, for its runner to be a long-lived one


class Preparations:
    def __init__(
        self, engine: Engine, directory: Path, notice: Notice, *, meanwhile: bool = True
    ) -> None:
        self._engine = engine
        self._meanwhile = meanwhile
        self._wanted = directory
        self._found: Path | None = None
        self._notice = notice
        self._making = asyncio.Lock()
        self._uses: Counter[str] = Counter()
        self._background: dict[Path, asyncio.Task[None]] = {}

    async def ready(
        self, language: Language, toolchain: Toolchain, env: Mapping[str, str]
    ) -> dict[str, Mount]:
        """What is ready, by id, and where it is to be mounted. Makes what is needed and missing,
        and waits for it; what is optional may be missing from the answer."""
        self._uses[language.name] += 1
        mounts = {}
        for preparation in language.prepare:
            one = Preparing(language, preparation, toolchain, env)
            place = one.place_in(self._directory())
            if not is_there(place):
                if preparation.optional:
                    self._make_meanwhile(one, place)
                    continue
                await self._make(one, place)
            elif preparation.optional and not await self._is_worth_showing(one, place):
                continue
            mounts[preparation.id] = one.mount(place)
        return mounts

    async def make_all(
        self, language: Language, toolchain: Toolchain, env: Mapping[str, str]
    ) -> None:
        """Make all that is missing, and wait for it."""
        for preparation in language.prepare:
            one = Preparing(language, preparation, toolchain, env)
            await self._make(one, one.place_in(self._directory()))

    async def aclose(self) -> None:
        """Give up what is being made in the background."""
        await cancel(self._background.values())

    async def _make(self, one: Preparing, place: Path) -> None:
        # One at a time in this process. Two processes may do the same work at once; the first to
        # finish wins, and both results are good.
        async with self._making:
            if not is_there(place):
                self._notice(f"preparing {one.title}, once …")
                await one.make(self._engine, place)

    async def _is_worth_showing(self, one: Preparing, place: Path) -> bool:
        long_lived = self._uses[one.language.name] >= _ENOUGH_USES
        return long_lived or await self._engine.sees(place, one.toolchain.image)

    def _make_meanwhile(self, one: Preparing, place: Path) -> None:
        """Once: what failed is not tried again by this runner."""
        worth_it = self._meanwhile and self._uses[one.language.name] >= _ENOUGH_USES
        if worth_it and place not in self._background:
            self._background[place] = asyncio.create_task(self._try_to_make(one, place))

    async def _try_to_make(self, one: Preparing, place: Path) -> None:
        try:
            await self._make(one, place)
        except CodeRunnerError as error:
            self._notice(f"going on without {one.title}: {error}")

    def _directory(self) -> Path:
        if self._found is None:
            self._found = kept_directory(self._wanted)
        return self._found
