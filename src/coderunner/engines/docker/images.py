"""Which image a language runs in, and whether the daemon has it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coderunner.engines.docker.daemon import is_absent, troubles
from coderunner.engines.docker.pulling import absent, pull
from coderunner.errors import EngineUnavailable
from coderunner.language import Language
from coderunner.notices import Notice
from coderunner.settings import DockerSettings

FALLBACK = "debian:12-slim"  # of jobs that are of no language
_EXAMPLE = "python:3.11-slim or registry.example:5000/team/python:3.11"
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}  # as Docker calls them


@dataclass(frozen=True, slots=True)
class Image:
    name: str
    id: str
    env: Mapping[str, str]
    volumes: Mapping[str, object]


def image_of(language: Language, settings: DockerSettings) -> str:
    """The image for a language, from the most particular setting to the most general."""
    names = (language.name, *language.aliases)
    chosen = next((settings.images[name] for name in names if name in settings.images), "")
    prefix = settings.default_image_prefix.rstrip("/")
    prefixed = f"{prefix}/{language.name}" if prefix else ""
    found = chosen or settings.image or prefixed or language.image
    if not found:
        raise EngineUnavailable(
            f"nobody has said which Docker image {language.title} is in",
            hint=f'set CODERUNNER_DOCKER__IMAGES=\'{{"{language.name}": "…"}}\'',
        )
    return found


def find(api: Any, name: str, settings: DockerSettings, notice: Notice) -> Image:
    """The image, pulled as the policy says. Blocking."""
    is_id = name.startswith("sha256:")
    if settings.pull_policy == "always" and not is_id:
        pull(api, name, notice)
    try:
        return _look(api, name)
    except EngineUnavailable as error:
        if not is_absent(error):
            raise
        if is_id or settings.pull_policy == "never":
            raise absent(name, "it is not on this daemon") from error
    pull(api, name, notice)
    return _look(api, name)


def has_vanished(image: Image, error: EngineUnavailable) -> bool:
    """Whether it failed because the image is there no more."""
    return is_absent(error) and image.id in error.message


def _look(api: Any, name: str) -> Image:
    with troubles(f"no image {name}", f"{name} should be as in {_EXAMPLE}"):
        found = api.inspect_image(name)
    _check_architecture(name, str(found.get("Architecture") or ""))
    config = found.get("Config") or {}
    env = dict(pair.split("=", 1) for pair in config.get("Env") or () if "=" in pair)
    return Image(name, found["Id"], env, config.get("Volumes") or {})


def _check_architecture(name: str, machine: str) -> None:
    """The daemon is of ours, which has been looked at."""
    ours = _MACHINES.get(platform.machine(), "")
    if machine and ours and machine != ours:
        raise EngineUnavailable(
            f"the Docker image {name} is for {machine}, and this machine is {ours}",
            hint=f"docker pull --platform linux/{ours} {name}",
        )
