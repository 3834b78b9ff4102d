"""Programs that tests want to try, and that nobody wants installed: a package would start some of
them for all the world. They are taken out of their packages, and kept."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coderunner.settings import user_cache_dir
from tests.support import leave_out

_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Program:
    path: str
    env: Mapping[str, str]


def program(name: str, *packages: str) -> Program:
    """The installed one; else that of the first package, with what else is in the others."""
    if found := shutil.which(name, path=f"{os.environ['PATH']}:{_PATH}"):
        return Program(found, os.environ)
    kept = user_cache_dir() / "tests" / name
    if not kept.exists():
        _unpack(kept, packages)
    libraries = ":".join(sorted({str(path.parent) for path in kept.glob("**/*.so.*")}))
    folders = f"{kept}/usr/sbin:{kept}/usr/bin"
    env = {**os.environ, "LD_LIBRARY_PATH": libraries, "PATH": f"{folders}:{os.environ['PATH']}"}
    found = shutil.which(name, path=folders)
    assert found, f"{packages[0]} has no {name}"
    return Program(found, env)


def _unpack(kept: Path, packages: tuple[str, ...]) -> None:
    making = kept.with_suffix(f".{os.getpid()}")
    making.mkdir(parents=True)
    fetched = subprocess.run(
        ["apt-get", "download", *packages], cwd=making, capture_output=True, check=False
    )
    if fetched.returncode:
        shutil.rmtree(making)
        leave_out(f"there is no {packages[0]}", fix="apt-get update, which knows of packages")
    for package in making.glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", package, making], check=True)
        package.unlink()
    making.rename(kept)
