"""The class of all settings."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from coderunner.errors import InvalidInput, InvalidSettings
from coderunner.language import Languages, user_language_dir
from coderunner.model import MIB, Isolation, Limits
from coderunner.settings.docker import DockerSettings
from coderunner.settings.judge import JudgeSettings
from coderunner.settings.layers import LayerSource, read_layers
from coderunner.settings.listed import Names
from coderunner.settings.server import ServerSettings
from coderunner.settings.words import called, in_words


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


class Settings(BaseSettings):
    """How this installation runs code. What the caller passes wins over the environment, and that
    over the files; `InvalidSettings` says what is wrong and in which of them."""

    model_config = SettingsConfigDict(
        env_prefix="CODERUNNER_", env_nested_delimiter="__", extra="forbid"
    )

    engine: str = Field(default="auto", description="auto, linux, docker or process")
    min_isolation: Isolation = Field(
        default=Isolation.SAMPLED,
        description="refuse to run anything behind weaker walls than these",
    )
    languages_dir: Path | None = Field(
        default=None, description="a directory with TOML files of your own languages"
    )
    compile_commands: dict[str, Names] = Field(
        default_factory=dict,
        description='other commands for compilers: {"cpp": ["{cxx}", "-O3", "-o", "program", '
        '"{sources}"]}',
    )
    toolchains: dict[str, str] = Field(
        default_factory=dict,
        description='which compiler or interpreter to take: {"python": "/opt/py/bin/python3"}',
    )
    cache_dir: Path = Field(
        default_factory=user_cache_dir, description="for what can be made again"
    )
    compile_cache_mb: int = Field(
        default=512, ge=0, description="keep what compilers made, up to this size; 0: keep nothing"
    )
    prepare: bool = Field(
        default=True,
        description="make in the background what lets compilers start faster, once per machine",
    )
    warm: bool = Field(
        default=True, description="keep interpreters started, for languages that can do with it"
    )
    preload: Names = Field(
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
    judge: JudgeSettings = Field(
        default_factory=JudgeSettings, description="what requests to the judge do not say"
    )
    server: ServerSettings = Field(
        default_factory=ServerSettings, description="what `coderunner serve` does"
    )

    if not TYPE_CHECKING:  # type checkers know the fields better than this signature does

        def __init__(self, **given: Any) -> None:
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise in_words(error, type(self), given) from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The strongest first."""
        layers = read_layers(settings_cls)
        return init_settings, *(LayerSource(settings_cls, layer) for layer in layers)

    @field_validator("ceiling", mode="before")
    @classmethod
    def _complete(cls, value: object) -> object:
        """One field of the ceiling that is set must not reset all the others."""
        return {**asdict(CEILING), **value} if isinstance(value, dict) else value

    @field_validator("preload", mode="after")
    @classmethod
    def _modules(cls, names: list[str]) -> list[str]:
        if not all(map(_is_module, names)):
            raise PydanticCustomError(
                "preload", "must be names of modules (CODERUNNER_PRELOAD=numpy,pandas)"
            )
        return names

    def language_dirs(self) -> list[Path]:
        """The user's directories; the one from the settings has the last word."""
        if self.languages_dir is not None and not self.languages_dir.is_dir():
            raise InvalidInput(
                f"{called(('languages_dir',), Settings)}: {self.languages_dir} is not a directory",
                hint="make it, or leave the setting out",
            )
        return [path for path in (user_language_dir(), self.languages_dir) if path is not None]

    def languages(self) -> Languages:
        """All languages, compiled by the commands that the settings say."""
        known = Languages(self.language_dirs())
        for name, command in self.compile_commands.items():
            with _blaming("compile_commands", name):
                known.compile_by(name, command)
        for name in self.docker.images:
            with _blaming("docker", "images", name):
                known.get(name)
        return known


@contextlib.contextmanager
def _blaming(*key: str) -> Iterator[None]:
    """This setting, for what cannot be done."""
    try:
        yield
    except InvalidInput as error:
        where = called(key, Settings)
        raise InvalidSettings(f"{where}: {error.message}", hint=error.hint) from None


def _is_module(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))
