"""How one preparation is made: a job in a sandbox, and a copy of what it left.

    <language>-<id>-<hash of recipe and tools' paths>-<hash of what lies there>

The result is found again by its name, which changes with everything it was made from. Of two that
differ only at the end, the older one is of a toolchain that was upgraded, and goes.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import hashlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from coderunner.engines.base import Engine
from coderunner.errors import EngineUnavailable, faults_of_the_machine
from coderunner.execution import execute_and
from coderunner.language import Language, Prepare
from coderunner.model import Job, Limits, Mount, Outcome
from coderunner.placeholders import Value, expand, expand_env, limit_values
from coderunner.toolchain import Toolchain
from coderunner.toolchain_cache import signature
from coderunner.workspace import Workspace, remove_tree

_DAY_S = 24 * 3600
_FORGOTTEN_AFTER_S = 30 * _DAY_S


@dataclass(frozen=True, slots=True)
class Preparing:
    """One preparation of a language, for one toolchain."""

    language: Language
    preparation: Prepare
    toolchain: Toolchain
    env: Mapping[str, str]

    @property
    def title(self) -> str:
        return f"{self.language.title} ({self.preparation.id})"

    def mount(self, place: Path) -> Mount:
        scratch = not self.preparation.read_only
        return Mount(place, self.preparation.target, scratch=scratch)

    def place_in(self, directory: Path) -> Path:
        """Where it is, or will be."""
        files = [*self.toolchain.tools.values(), *_found(self.preparation.watch)]
        state = (self.toolchain.version, [(path, signature(path)) for path in files])
        if image := self.toolchain.image:  # then its tools are not this machine's files
            state = (image, [])
        return directory / f"{self._family}-{_hash(state)}"

    async def make(self, engine: Engine, place: Path) -> None:
        """Make it; raises EngineUnavailable, and leaves nothing behind, if that fails."""
        unfinished = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
        with faults_of_the_machine(), Workspace() as workspace:
            workspace.add(self.preparation.files)
            os.mkdir(workspace.path / "prepared", 0o755)
            job = self._job(workspace)
            try:
                outcome, _ = await execute_and(engine, job, lambda fd: _copy_out(fd, unfinished))
                if not outcome.ok:
                    raise self._failure(outcome)
                _put_in_place(unfinished, place)
            finally:
                remove_tree(unfinished)
            self._sweep(place)

    def _job(self, workspace: Workspace) -> Job:
        values = self._values()
        return Job(
            argv=expand(self.preparation.argv, values),
            workspace=workspace.path,
            env={**self.env, **expand_env(self.preparation.env, values)},
            mounts=self.toolchain.mounts,
            limits=self._limits,
            collect=True,
            image=self.toolchain.image,
        )

    @property
    def _limits(self) -> Limits:
        return Limits().but(self.preparation.limits)

    def _values(self) -> dict[str, Value]:
        return {
            **self.language.scripts,
            **self.toolchain.tools,
            **limit_values(self._limits),
            self.preparation.id: self.preparation.target,
        }

    @property
    def _family(self) -> str:
        argv = expand(self.preparation.argv, self._values())  # with the text of scripts
        recipe = (self.preparation, argv, sorted(self.toolchain.tools.items()))
        return f"{self.language.name}-{self.preparation.id}-{_hash(recipe)}"

    def _sweep(self, place: Path) -> None:
        """Remove those that can never be used again, and all that nobody used for a month."""
        long_ago = time.time() - _FORGOTTEN_AFTER_S
        for other in place.parent.iterdir():
            with contextlib.suppress(OSError):
                outdated = other.name.startswith(f"{self._family}-") and "." not in other.name
                if other != place and (outdated or other.lstat().st_mtime < long_ago):
                    remove_tree(other)

    def _failure(self, outcome: Outcome) -> EngineUnavailable:
        said = outcome.stderr.text.strip()[-500:]
        return EngineUnavailable(
            f"{self.language.title} could not be prepared ({self.preparation.id}): "
            f"ended by {outcome.ended_by}, exit code {outcome.exit_code}: {said}",
            hint="is the toolchain complete? does it work outside of the sandbox?",
        )


@functools.lru_cache
def _found(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The paths that match. Looked for once, since that takes a while: one that comes later
    changes the directory it comes into, which should be watched as well."""
    return tuple(path for pattern in patterns for path in sorted(glob.glob(pattern)))


def _hash(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def is_there(place: Path) -> bool:
    """Whether it is made, and nobody else could have put it there. Notes that it is in use."""
    try:
        status = place.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return False
        if status.st_mtime < time.time() - _DAY_S:
            os.utime(place)
    except OSError:
        return False
    return True


def _copy_out(fd: int, target: Path) -> None:
    """Copy the result into a directory that is ours alone. In there everything is open to
    everybody, because a box's user is somebody else and must be able to write to its copy."""
    with _faults_of_the_cache(target.parent):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.parent.chmod(0o700)
        _copy(f"/proc/self/fd/{fd}/prepared", str(target))


def _copy(source: str, target: str) -> None:
    """Unlike `shutil.copytree`, this ends with the first thing that goes wrong, and says what."""
    os.mkdir(target)
    os.chmod(target, 0o777)  # noqa: S103
    with os.scandir(source) as entries:
        for entry in entries:
            copy = os.path.join(target, entry.name)
            if entry.is_dir(follow_symlinks=False):
                _copy(entry.path, copy)
            elif entry.is_symlink():
                os.symlink(os.readlink(entry.path), copy)
            else:
                shutil.copy2(entry.path, copy)
                os.chmod(copy, 0o666)  # noqa: S103


def _put_in_place(unfinished: Path, place: Path) -> None:
    with _faults_of_the_cache(place.parent):
        try:
            os.rename(unfinished, place)
        except OSError:
            if not is_there(place):  # somebody else was faster
                raise


@contextlib.contextmanager
def _faults_of_the_cache(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EngineUnavailable(
            f"cannot keep anything in {directory}: {error.strerror or error}",
            hint="free some space there, or set CODERUNNER_CACHE_DIR to another directory",
        ) from error
