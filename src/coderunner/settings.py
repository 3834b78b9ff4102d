"""Every setting, in one class, from the environment: `CODERUNNER_ENGINE=process` and so on."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from coderunner.errors import InvalidInput
from coderunner.language import user_language_dir
from coderunner.model import MIB, Isolation, Limits


def user_cache_dir() -> Path:
    """Where things live that can be made again: `$XDG_CACHE_HOME/coderunner`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/.cache")
    if not os.path.isabs(base):  # a user without a home, as many services are
        base = "/nonexistent"
    return Path(base, "coderunner")


# What short Python programs import most. Each costs some memory, once.
PRELOAD = (
    "re", "math", "random", "json", "collections", "itertools", "functools", "heapq", "bisect",
    "string", "datetime", "typing", "dataclasses", "enum", "copy", "operator", "decimal",
    "fractions", "statistics", "time", "socket", "struct", "ctypes", "array", "select", "fcntl",
    "resource", "threading", "traceback", "contextlib",
)  # fmt: skip

CEILING = Limits(
    wall_ms=600_000,
    cpu_ms=3_600_000,
    memory_mb=16_384,
    processes=4096,
    output_bytes=256 * MIB,
    flood_bytes=4096 * MIB,
    disk_mb=8192,
    files=1_000_000,
    open_files=65_536,
    stack_mb=4096,
    cpus=256,
    address_space_mb=1_048_576,
)


class DockerSettings(BaseModel):
    """How the docker engine makes its containers: `CODERUNNER_DOCKER__RUNTIME=runsc`."""

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


class Settings(BaseSettings):
    """How this installation runs code. Nested values use two underscores:
    `CODERUNNER_CEILING__WALL_MS=5000`."""

    model_config = SettingsConfigDict(env_prefix="CODERUNNER_", env_nested_delimiter="__")

    engine: str = Field(default="auto", description="auto, linux, docker or process")
    min_isolation: Isolation = Field(
        default=Isolation.SAMPLED,
        description="refuse to run anything behind weaker walls than these",
    )
    languages_dir: Path | None = Field(
        default=None, description="a directory with TOML files of your own languages"
    )
    cache_dir: Path = Field(
        default_factory=user_cache_dir, description="for what can be made again"
    )
    compile_cache_mb: int = Field(
        default=512, ge=0, description="keep what compilers made, up to this size; 0: keep nothing"
    )
    toolchains: dict[str, str] = Field(
        default_factory=dict,
        description='which compiler or interpreter to take: {"python": "/opt/py/bin/python3"}',
    )
    prepare: bool = Field(
        default=True,
        description="make in the background what lets compilers start faster, once per machine",
    )
    warm: bool = Field(
        default=True, description="keep interpreters started, for languages that can do with it"
    )
    preload: Annotated[list[str], NoDecode] = Field(
        default=list(PRELOAD),
        description="modules that warm interpreters have loaded: numpy,pandas or a list",
    )
    ceiling: Limits = Field(
        default=CEILING,
        description="the most that any caller may ask for; what is not set stays as it is",
    )
    docker: DockerSettings = Field(
        default_factory=DockerSettings, description="how the docker engine makes its containers"
    )

    @field_validator("ceiling", mode="before")
    @classmethod
    def _complete(cls, value: object) -> object:
        """One field of the ceiling set in the environment must not reset all the others."""
        return {**asdict(CEILING), **value} if isinstance(value, dict) else value

    @field_validator("preload", mode="before")
    @classmethod
    def _modules(cls, value: object) -> object:
        """Names with commas between them, as they come from the environment; JSON; or a list."""
        names = _listed(value) if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not all(map(_is_module, names)):
            raise PydanticCustomError(
                "preload", "Input should be names of modules (CODERUNNER_PRELOAD=numpy,pandas)"
            )
        return list(names)

    def language_dirs(self) -> list[Path]:
        """The user's directories; the one from the settings has the last word."""
        if self.languages_dir is not None and not self.languages_dir.is_dir():
            raise InvalidInput(
                f"CODERUNNER_LANGUAGES_DIR: {self.languages_dir} is not a directory",
                hint="make it, or leave the setting out",
            )
        return [path for path in (user_language_dir(), self.languages_dir) if path is not None]


def _listed(text: str) -> object:
    if not text.lstrip().startswith("["):
        return [name.strip() for name in text.split(",") if name.strip()]
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_module(name: object) -> bool:
    return isinstance(name, str) and all(part.isidentifier() for part in name.split("."))
