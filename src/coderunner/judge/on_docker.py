"""A runner on the Docker daemon of a caller's docker-py client, in the background."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coderunner.background import background
from coderunner.runner import Runner
from coderunner.settings import Settings


async def docker_runner(client: Any, images: Mapping[str, str] | None = None) -> Runner:
    """The one that all who have this client and these images share. In the background's loop."""

    def make() -> Runner:
        from coderunner.engines.docker import DockerEngine

        settings = Settings(engine="docker")
        chosen = {**settings.docker.images, **(images or {})}
        docker = settings.docker.model_copy(update={"images": chosen})
        return Runner(DockerEngine(docker, client=client), settings=settings)

    return background().kept((id(client), repr(sorted((images or {}).items()))), make)
