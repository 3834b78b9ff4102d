"""Fetching an image from its registry, and how far that has come: over all of its layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coderunner.engines.docker.daemon import troubles
from coderunner.errors import EngineUnavailable
from coderunner.notices import Notice, Progress

_OURS = "coderunner/"  # as `make images` calls them
_SHUT = ("no basic auth", "unauthorized", "authentication", "denied")


def pull(api: Any, name: str, notice: Notice) -> None:
    """Blocking."""
    repository, tag = split(name)
    notice(f"pulling {name} …")
    layers = Layers(f"pulling {name}")
    told, why = None, ""
    try:
        with troubles("the registry does not give it"):
            for event in api.pull(repository, tag=tag, stream=True, decode=True):
                why = why or str(event.get("error", ""))
                layers.note(event)
                if layers.total and (now := layers.progress) != told:
                    notice(now)
                    told = now
    except EngineUnavailable as error:
        raise absent(name, error.message) from error
    if why:
        raise absent(name, why)
    if told is not None:
        notice(Progress(told.what, told.total, told.total))


def split(name: str) -> tuple[str, str | None]:
    """Without a tag it is `latest`: all tags is never what anybody wants. A digest says it all."""
    name, at, digest = name.partition("@")
    head, colon, tag = name.rpartition(":")
    repository, tag = (head, tag) if colon and "/" not in tag else (name, "")
    return (f"{repository}@{digest}", None) if at else (repository, tag or "latest")


def absent(name: str, why: str) -> EngineUnavailable:
    return EngineUnavailable(f"the Docker image {name} is not here: {why}", hint=_way_to(name, why))


def _way_to(name: str, why: str) -> str:
    if name.startswith(_OURS):  # is in no registry, unless somebody has pushed their own
        return f"build it in a checkout of CodeRunner: make images ARGS={name[len(_OURS) :]}"
    if any(word in why.lower() for word in _SHUT):
        first = f"docker login {_registry(name)}".rstrip() + f", then docker pull {name}"
    else:
        first = f"docker pull {name}"
    ours = "and set CODERUNNER_DOCKER__DEFAULT_IMAGE_PREFIX=coderunner"
    return f"{first}; or build ours with `make images`, {ours}"


def _registry(name: str) -> str:
    """Empty: Docker's own."""
    first, slash, _ = name.partition("/")
    return first if slash and (first == "localhost" or {".", ":"} & set(first)) else ""


@dataclass
class _Layer:
    size: int = 0  # 0: not known yet
    fetched: int = 0
    unpacked: int = 0


class Layers:
    """Fetching is half of the work, unpacking the other. A layer that has not begun is taken to be
    as large as the others are."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._layers: dict[str, _Layer] = {}

    def note(self, event: Mapping[str, Any]) -> None:
        """One of the daemon's own, of a pull."""
        detail = event.get("progressDetail") or {}
        current, size = int(detail.get("current") or 0), int(detail.get("total") or 0)
        status, name = event.get("status"), str(event.get("id", ""))
        if status == "Pulling fs layer":
            self._layers[name] = _Layer()
        layer = self._layers.get(name)
        if layer is None:
            return
        layer.size = size or layer.size
        match status:
            case "Downloading":
                layer.fetched = current
            case "Verifying Checksum" | "Download complete":
                layer.fetched = layer.size
            case "Extracting":
                layer.fetched, layer.unpacked = layer.size, current
            case "Pull complete" | "Already exists":
                layer.fetched = layer.unpacked = layer.size
                if not layer.size:  # it was too small to be told of
                    del self._layers[name]

    @property
    def total(self) -> int:
        sizes = [layer.size for layer in self._layers.values() if layer.size]
        return sum(sizes) * len(self._layers) // len(sizes) if sizes else 0

    @property
    def progress(self) -> Progress:
        done = sum(layer.fetched + layer.unpacked for layer in self._layers.values()) // 2
        return Progress(self._what, min(done, self.total), self.total)
