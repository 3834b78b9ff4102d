"""Which image a language runs in, and whether the daemon has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coderunner.engines.docker.daemon import is_absent, troubles
from coderunner.errors import EngineUnavailable
from coderunner.language import Language
from coderunner.settings import DockerSettings

Notice = Callable[[str], None]
FALLBACK = "debian:12-slim"  # of jobs that are of no language
_STEP = 25  # percent


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
        _pull(api, name, notice)
    try:
        return _look(api, name)
    except EngineUnavailable as error:
        if not is_absent(error):
            raise
        if is_id or settings.pull_policy == "never":
            raise _absent(name, "it is not on this daemon") from error
    _pull(api, name, notice)
    return _look(api, name)


def has_vanished(image: Image, error: EngineUnavailable) -> bool:
    """Whether it failed because the image is there no more."""
    return is_absent(error) and image.id in error.message


def _look(api: Any, name: str) -> Image:
    with troubles(f"no image {name}"):
        found = api.inspect_image(name)
    config = found.get("Config") or {}
    env = dict(pair.split("=", 1) for pair in config.get("Env") or () if "=" in pair)
    return Image(name, found["Id"], env, config.get("Volumes") or {})


def _pull(api: Any, name: str, notice: Notice) -> None:
    repository, tag = _split(name)
    notice(f"pulling {name} …")
    progress = _Progress(name, notice)
    try:
        with troubles(f"cannot pull {name}"):
            for event in api.pull(repository, tag=tag, stream=True, decode=True):
                if "error" in event:
                    raise _absent(name, str(event["error"]))
                progress.note(event)
    except EngineUnavailable as error:
        if error.hint.startswith("docker pull"):
            raise
        raise _absent(name, error.message) from error


class _Progress:
    """Over all layers that are known so far."""

    def __init__(self, name: str, notice: Notice) -> None:
        self._name = name
        self._notice = notice
        self._layers: dict[str, tuple[int, int]] = {}
        self._next = _STEP

    def note(self, event: Mapping[str, Any]) -> None:
        detail = event.get("progressDetail") or {}
        if event.get("status") != "Downloading" or not detail.get("total"):
            return
        self._layers[event["id"]] = (detail["current"], detail["total"])
        done, total = map(sum, zip(*self._layers.values(), strict=True))
        percent = 100 * done // total
        if percent >= self._next:
            self._notice(f"pulling {self._name}: {percent}% of {total >> 20} MB")
            self._next = percent - percent % _STEP + _STEP


def _split(name: str) -> tuple[str, str | None]:
    """A name without a tag means `latest`; all tags is never what anybody wants."""
    if "@" in name:
        return name, None
    head, colon, tag = name.rpartition(":")
    return (head, tag) if colon and "/" not in tag else (name, "latest")


def _absent(name: str, why: str) -> EngineUnavailable:
    return EngineUnavailable(
        f"the Docker image {name} is not here: {why}",
        hint=f"docker pull {name}; or build ours with `make images`, "
        "and set CODERUNNER_DOCKER__DEFAULT_IMAGE_PREFIX=coderunner",
    )
