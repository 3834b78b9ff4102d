"""The section `docker`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class DockerSettings(BaseModel):
    """How the docker engine makes its containers: `CODERUNNER_DOCKER__RUNTIME=runsc`."""

    model_config = ConfigDict(extra="forbid")

    host: str | None = Field(
        default=None, description="the daemon's address; else that of the environment (DOCKER_HOST)"
    )
    image: str = Field(
        default="", description="one image for all languages: the name of one that has them all"
    )
    images: dict[str, str] = Field(
        default_factory=dict, description='by language: {"python": "python:3.12-slim"}'
    )
    default_image_prefix: str = Field(
        default="", description="coderunner: every language's image is coderunner/<language>"
    )
    pull_policy: Literal["always", "if_not_present", "never"] = Field(
        default="if_not_present", description="when an image is fetched from its registry"
    )
    runtime: str = Field(default="", description="what runs containers: runsc for gVisor")
    ready: int = Field(
        default=0, ge=0, description="keep up to so many started containers ready for the next job"
    )
    warm: int = Field(
        default=0,
        ge=0,
        description="use containers again: keep up to so many that wait, wiped, for the next job",
    )
