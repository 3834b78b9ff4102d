"""All that is needed to turn a language's commands into jobs for one program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coderunner.entry import Layout
from coderunner.errors import InvalidProgram
from coderunner.model import Job, Limits, Mount, Warm
from coderunner.placeholders import Value, expand, expand_env, limit_values, names_in
from coderunner.text import as_bytes
from coderunner.toolchain import Toolchain
from coderunner.workspace import Bundle

_LONGEST_ARG = 128 * 1024  # and variable of the environment: the kernel takes no longer ones


@dataclass(frozen=True, slots=True)
class Recipe:
    layout: Layout
    toolchain: Toolchain
    env: Mapping[str, str]
    values: Mapping[str, Value]
    prepared: Mapping[str, Mount]  # by id; an optional preparation may not be there (yet)
    own_env: Mapping[str, str] = field(default_factory=dict)  # the program's

    def compile_job(self, limits: Limits, workspace: Path | Bundle) -> Job:
        language = self.layout.language
        env = {**language.env, **language.compile_env}
        return self._job(language.compile, env, limits, workspace)

    def run_job(
        self, limits: Limits, workspace: Path | Bundle, preload: tuple[str, ...] | None
    ) -> Job:
        """The program itself. With `preload`, in an interpreter that has loaded these, if the
        language can do with one."""
        language = self.layout.language
        job = self._job(language.run, language.env, limits, workspace)
        if self.own_env:  # one that has started already has read its environment
            return replace(job, env={**job.env, **self.own_env})
        if preload is None or not language.warm:
            return job
        return replace(job, warm=Warm(len(job.argv) - len(self.values["args"]), preload))

    def _job(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        limits: Limits,
        workspace: Path | Bundle,
    ) -> Job:
        language = self.layout.language
        absent = {one.id for one in language.prepare} - set(self.prepared)
        argv = [word for word in argv if not names_in([word]) & absent]
        env = {name: text for name, text in env.items() if not names_in([text]) & absent}
        named = names_in([*argv, *env.values()])
        values = {
            **self.values,
            **{name: mount.target for name, mount in self.prepared.items()},
            **limit_values(limits),
        }
        return Job(
            argv=expand(argv, values),
            workspace=workspace,
            env={**self.env, **expand_env(env, values)},
            mounts=(
                *self.toolchain.mounts,
                *(mount for name, mount in self.prepared.items() if name in named),
            ),
            limits=limits,
            image=self.toolchain.image,
            label=f"code-runner-{language.name}",
        )


def check_args(args: object) -> None:
    """Raise InvalidProgram unless a program can be started with these arguments."""
    # callers without a type checker pass anything
    if not isinstance(args, tuple | list) or not all(isinstance(arg, str) for arg in args):
        raise InvalidProgram("args must be a list of strings", hint='as in args=["one", "two"]')
    for arg in args:
        if "\0" in arg:
            raise InvalidProgram("an argument contains a NUL character", hint="remove it")
        if len(as_bytes(arg, "an argument")) >= _LONGEST_ARG:
            raise InvalidProgram(
                "an argument is longer than 128 KB, which the kernel does not take",
                hint="pass it on stdin or as a file",
            )


def check_env(env: object) -> None:
    """Raise InvalidProgram unless a program can find this in its environment."""
    if not isinstance(env, Mapping):
        raise InvalidProgram("env must be a mapping", hint='as in env={"LANG": "C"}')
    for name, text in env.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise InvalidProgram("names and values of env must be text")
        if not name or "=" in name or "\0" in name + text:
            raise InvalidProgram(
                f"env cannot have {name!r:.80}: names are not empty and have no '=', "
                "and nothing has a NUL character"
            )
        if len(as_bytes(f"{name}={text}", "env")) >= _LONGEST_ARG:
            raise InvalidProgram(
                f"the variable {name!r:.80} is longer than 128 KB, which the kernel does not take",
                hint="pass it on stdin or as a file",
            )
