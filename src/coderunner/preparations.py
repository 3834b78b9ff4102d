"""Things a language needs that are expensive to make and safe to share, made once and kept.

Go's compiled standard library is one. A language file says how to make it (`[prepare.…]`); it is
made in a sandbox like everything else, from the toolchain alone, and later jobs see a copy they
may write to and cannot change.

    <cache>/prepared/<language>-<id>-<hash of toolchain and recipe>/
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from coderunner.engines.base import Engine
from coderunner.errors import EngineUnavailable
from coderunner.execution import execute_and
from coderunner.language import Language, Prepare
from coderunner.model import Job, Limits, Mount, Outcome
from coderunner.placeholders import Value, expand, expand_env, limit_values
from coderunner.toolchain import Toolchain
from coderunner.workspace import Workspace, remove_tree
from coderunner.workspace.root import process_root

Notice = Callable[[str], None]


class Preparations:
    def __init__(self, directory: Path, notice: Notice) -> None:
        self._wanted = directory
        self._found: Path | None = None
        self._notice = notice
        self._making = asyncio.Lock()

    async def ready(
        self, engine: Engine, language: Language, toolchain: Toolchain, env: dict[str, str]
    ) -> tuple[Mount, ...]:
        """Make what is missing; returns where everything is to be mounted."""
        mounts = []
        for preparation in language.prepare:
            place = self._directory() / _name(language, preparation, toolchain)
            if not _is_ours(place):
                # One at a time in this process. Two processes may do the same work at once; the
                # first to finish wins, and both results are good.
                async with self._making:
                    if not _is_ours(place):
                        self._notice(f"preparing {language.title} ({preparation.id}), once …")
                        await self._make(engine, language, preparation, toolchain, env, place)
            mounts.append(Mount(place, preparation.target, scratch=True))
        return tuple(mounts)

    def _directory(self) -> Path:
        """The directory in the cache; where there is none to be had (a service without a home),
        one that lasts as long as this process."""
        if self._found is None:
            try:
                self._wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
                usable = self._wanted.is_absolute() and os.access(self._wanted, os.W_OK | os.X_OK)
            except OSError:
                usable = False
            self._found = self._wanted if usable else process_root() / "prepared"
        return self._found

    async def _make(
        self,
        engine: Engine,
        language: Language,
        preparation: Prepare,
        toolchain: Toolchain,
        env: dict[str, str],
        place: Path,
    ) -> None:
        limits = Limits().but(preparation.limits)
        values: dict[str, Value] = {
            **language.scripts,
            **toolchain.tools,
            **limit_values(limits),
            preparation.id: preparation.target,
        }
        with Workspace() as workspace:
            workspace.add(preparation.files)
            os.mkdir(workspace.path / "prepared", 0o755)
            job = Job(
                argv=expand(preparation.argv, values),
                workspace=workspace.path,
                env={**env, **expand_env(preparation.env, values)},
                mounts=toolchain.mounts,
                limits=limits,
                collect=True,
            )
            unfinished = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
            try:
                outcome, _ = await execute_and(engine, job, lambda fd: _copy_out(fd, unfinished))
                if not outcome.ok:
                    raise _failure(language, preparation, outcome)
                with contextlib.suppress(FileExistsError):  # somebody else was faster
                    os.rename(unfinished, place)
            finally:
                remove_tree(unfinished)


def _is_ours(place: Path) -> bool:
    """Whether it is there, and nobody else could have put it there."""
    try:
        status = place.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _copy_out(fd: int, target: Path) -> None:
    """Copy the result into a directory that is ours alone. In there everything is open to
    everybody, because a box's user is somebody else and must be able to write to its copy."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target.parent.chmod(0o700)
    shutil.copytree(f"/proc/self/fd/{fd}/prepared", target, symlinks=True)
    for folder, _, files in os.walk(target):
        os.chmod(folder, 0o777)  # noqa: S103
        for path in (os.path.join(folder, name) for name in files):
            if not os.path.islink(path):
                os.chmod(path, 0o666)  # noqa: S103


def _name(language: Language, preparation: Prepare, toolchain: Toolchain) -> str:
    recipe = repr((preparation, sorted(toolchain.tools.items()), toolchain.version))
    digest = hashlib.sha256(recipe.encode()).hexdigest()[:16]
    return f"{language.name}-{preparation.id}-{digest}"


def _failure(language: Language, preparation: Prepare, outcome: Outcome) -> EngineUnavailable:
    said = outcome.stderr.text.strip()[-500:]
    return EngineUnavailable(
        f"{language.title} could not be prepared ({preparation.id}): "
        f"ended by {outcome.ended_by}, exit code {outcome.exit_code}: {said}",
        hint="is the toolchain complete? does it work outside of the sandbox?",
    )
