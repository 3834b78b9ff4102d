"""From a program to what is sent: checked here, as the library would, before anything travels."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from coderunner.as_json import of_files
from coderunner.errors import InvalidInput, InvalidProgram
from coderunner.model import File, Limits, Program
from coderunner.recipe import check_args, check_env
from coderunner.text import as_bytes
from coderunner.workspace import check_names, check_patterns

Json = dict[str, Any]
_USUAL = Limits()
_LONGEST_COMPILATION_MS = 60_000  # what a service lets compilers have
_TO_SPARE_S = 45  # for its turn to come, and for all else


class Beside(TypedDict, total=False):
    """What belongs to a run, beside its program and its input. As for the library."""

    limits: Limits | None
    compile_limits: Limits | None
    collect: Iterable[str]


class How(Beside, total=False):
    """What belongs to code that is to be a program. As for `coderunner.run`."""

    stdin: str | bytes
    language: str
    args: Iterable[str]
    files: Mapping[str, str | bytes]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What goes to the service, and how long that may take."""

    body: Json
    wall_ms: int
    compile_ms: int

    @property
    def patience_s(self) -> float:
        return (self.wall_ms + self.compile_ms) / 1000 + _TO_SPARE_S

    def written(self) -> bytes:
        return json.dumps(self.body).encode()


def of_code(code: str | bytes, how: How) -> Asked:
    """The service names the main file: it knows its languages."""
    args = how.get("args", ())
    given = {name: as_bytes(data, f"file {name!r}") for name, data in how.get("files", {}).items()}
    files = tuple(File(name, data) for name, data in given.items())
    if files:
        check_names(files)
    body = {
        "language": how.get("language", "python"),
        "code": _content(as_bytes(code, "code")),
        **({"files": _files(files)} if files else {}),
        **_start(args if isinstance(args, str) else tuple(args), how.get("env", {})),
    }
    return _asked(body, how, how.get("stdin", b""))


def of_program(program: Program, beside: Beside, stdin: str | bytes = b"") -> Asked:
    check_names(program.files)
    body = {
        "language": program.language,
        "files": _files(program.files),
        **_start(program.args, program.env),
    }
    return _asked(body, beside, stdin)


def _limits_asked(limits: Limits) -> Json:
    """Those that somebody has chosen: what is as usual may be lowered by the service."""
    usual = asdict(_USUAL)
    return {name: value for name, value in asdict(limits).items() if value != usual[name]}


def checked_text(text: str, what: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidProgram(f"{what} is not UTF-8, which cannot be sent") from None
    return text


def _asked(body: Json, around: Beside, stdin: str | bytes) -> Asked:
    """What is as usual is left out."""
    limits = around.get("limits") or _USUAL
    compiling = around.get("compile_limits")
    patterns = list(around.get("collect", ()))
    check_patterns(patterns)
    rest = {
        "stdin": _content(as_bytes(stdin, "stdin")),
        "limits": _limits_asked(limits),
        "compile_limits": _given(compiling),
        "collect": [checked_text(pattern, "a pattern of `collect`") for pattern in patterns],
    }
    compile_ms = compiling.wall_ms if compiling else _LONGEST_COMPILATION_MS
    return Asked(
        {**body, **{name: value for name, value in rest.items() if value}},
        limits.wall_ms,
        compile_ms,
    )


def _start(args: tuple[str, ...] | str, env: Mapping[str, str]) -> Json:
    check_args(args)
    check_env(env)
    started: Json = {}
    if args:
        started["args"] = [checked_text(arg, f"the argument {arg!r:.80}") for arg in args]
    if env:
        started["env"] = {n: checked_text(value, f"env {n!r:.80}") for n, value in env.items()}
    return started


def _files(files: Iterable[File]) -> list[Json]:
    for file in files:
        checked_text(file.name, f"the file name {file.name!r:.80}")
    return [
        {name: value for name, value in one.items() if name != "executable"}
        for one in of_files(files)
    ]


def _content(data: bytes) -> str | Json:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _given(limits: Limits | None) -> Json:
    """All of them: what is usual for a compiler depends on the language."""
    if limits is None:
        return {}
    if not isinstance(limits, Limits):
        raise InvalidInput(f"limits are Limits, not {type(limits).__name__}")
    return {name: value for name, value in asdict(limits).items() if value is not None}
