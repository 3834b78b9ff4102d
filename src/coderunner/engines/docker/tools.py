"""Where an image has its compilers and interpreters: found by looking into it, once per image."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from coderunner.errors import StartFailed, ToolchainMissing
from coderunner.execution import execute
from coderunner.language import Language, Tool
from coderunner.model import Job, Limits, Outcome
from coderunner.placeholders import expand
from coderunner.toolchain import Toolchain
from coderunner.toolchain_cache import Cache
from coderunner.workspace import Bundle

if TYPE_CHECKING:
    from coderunner.engines.docker.engine import DockerEngine
    from coderunner.engines.docker.images import Image

_TRUSTED_S = 1.0  # as on the host: nobody exchanges an image between two runs of a batch
_LIMITS = Limits(wall_ms=60_000, memory_mb=1024, processes=256)
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Links are followed as on the host: see `toolchain.py`.
_FIND = """
find_one() {
    for name in $1; do
        for folder in $2; do
            if [ -f "$folder/$name" ] && [ -x "$folder/$name" ]; then
                real=$(readlink -f "$folder/$name")
                case "${real##*/}" in
                    *"$name"*) echo "$real" ;;
                    *) echo "$(readlink -f "$folder")/$name" ;;
                esac
                return
            fi
        done
    done
    echo
}
"""


class ImageToolchains:
    fetches = True

    def __init__(self, engine: DockerEngine, overrides: Mapping[str, str]) -> None:
        self._engine = engine
        self._overrides = overrides
        self._cache = Cache()
        self._recent: dict[str, tuple[float, Toolchain]] = {}

    async def find(self, language: Language) -> Toolchain:
        until, found = self._recent.get(language.name, (0.0, None))
        if found is None or time.monotonic() >= until:
            image = await self._engine.image_of(language)
            found = await self._find(language, image)
            self._recent[language.name] = (time.monotonic() + _TRUSTED_S, found)
        return found

    async def _find(self, language: Language, image: Image) -> Toolchain:
        chosen = {tool.id: self._override(language, tool) for tool in language.tools}
        key = repr((_FIND, image.id, language.name, language.tools, language.version, chosen))
        kept = self._cache.get(key)
        if kept is None:
            try:
                tools = await self._look(language, image, chosen)
                kept = {"tools": tools, "version": await self._version(language, image, tools)}
            finally:
                await self._forget(image)
            self._cache.put(key, kept)
        tools = {str(name): str(path) for name, path in dict(kept["tools"]).items()}  # type: ignore[call-overload]
        folders = [path.rpartition("/")[0] for path in tools.values()]
        path = (*folders, *image.env.get("PATH", _PATH).split(":"))
        return Toolchain(
            language=language.name,
            version=str(kept["version"]),
            tools=tools,
            path=tuple(dict.fromkeys(path)),
            image=image.id,
            image_name=image.name,
        )

    def _override(self, language: Language, tool: Tool) -> str:
        return self._overrides.get(f"{language.name}.{tool.id}") or self._overrides.get(tool.id, "")

    async def _look(
        self, language: Language, image: Image, chosen: Mapping[str, str]
    ) -> dict[str, str]:
        """All tools with one question."""
        looked_for = [tool for tool in language.tools if not chosen[tool.id]]
        asked = await self._ask(image, ("/bin/sh", "-c", _FIND + _questions(looked_for, image)))
        answers = asked.stdout.text.split("\n")
        found = dict(zip((tool.id for tool in looked_for), answers, strict=False))
        missing = [tool for tool in looked_for if not found.get(tool.id)]
        if missing or not asked.ok:
            names = ", ".join(" or ".join(tool.names) for tool in missing)
            raise ToolchainMissing(
                f"{language.title} needs {names}, and the Docker image {image.name} has no such "
                f"command {asked.stderr.text.strip()[:200]}".rstrip(),
                hint=f'set another image: CODERUNNER_DOCKER__IMAGES=\'{{"{language.name}": "…"}}\'',
            )
        return {tool.id: chosen[tool.id] or found[tool.id] for tool in language.tools}

    async def _version(self, language: Language, image: Image, tools: Mapping[str, str]) -> str:
        asked = await self._ask(image, expand(language.version, {**language.scripts, **tools}))
        printed = f"{asked.stdout.text}\n{asked.stderr.text}"
        pattern = language.version_pattern or _VERSION
        match = pattern.search(printed)
        if not asked.ok:
            raise ToolchainMissing(
                f"{language.title}: {asked.stderr.text.strip()[-200:]} (in {image.name})",
                hint="the image has the command, but it does not work: try another image",
            )
        version = match[1] if match and pattern.groups else match[0] if match else ""
        return version or printed.strip().split("\n")[0]

    async def _ask(self, image: Image, argv: tuple[str, ...]) -> Outcome:
        with Bundle(()) as nothing:
            try:
                return await execute(self._engine, _question(image, argv, nothing))
            except StartFailed as error:
                raise ToolchainMissing(
                    f"the Docker image {image.name} cannot be looked into: {error.message}",
                    hint="the docker engine needs a shell (/bin/sh) in images of languages",
                ) from error

    async def _forget(self, image: Image) -> None:
        """Nobody asks again soon, so no container is kept for that."""
        with Bundle(()) as nothing:
            await self._engine.cool_down(_question(image, (), nothing))


def _question(image: Image, argv: tuple[str, ...], nothing: Bundle) -> Job:
    return Job(argv, nothing, {"LC_ALL": "C.UTF-8"}, limits=_LIMITS, image=image.id)


def _questions(tools: list[Tool], image: Image) -> str:
    lines = []
    folders = image.env.get("PATH", _PATH).split(":")
    for tool in tools:
        # Patterns stay patterns, for the shell to match; a home is nobody's in there.
        places = [*map(shlex.quote, folders), *(d for d in tool.dirs if not d.startswith("~"))]
        lines.append(f'find_one {shlex.quote(" ".join(tool.names))} "$(echo {" ".join(places)})"')
    return "\n".join(lines)
