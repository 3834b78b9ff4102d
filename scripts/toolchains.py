"""Installs the compilers and interpreters the tests need, or says how.

    scripts/toolchains.py                   as root, with apt: install what is missing
    scripts/toolchains.py --packages        print the packages that would have to be installed
    scripts/toolchains.py --install PKG…    install these

What is needed, and which package has it, is told by the language files. What is there from
elsewhere (rustup, nvm, pyenv …) is as good as a package. Without root or without apt it tells the
command to run and goes on; with CI=true it fails instead.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coderunner.errors import ToolchainMissing
from coderunner.language import Languages
from coderunner.toolchain import Toolchains

OTHERS = {  # commands, their packages, and what needs them
    "bwrap": ("bubblewrap", "comparison"),
    "docker-registry": ("docker-registry", "container tests"),
    "dockerd": ("docker.io", "container tests"),
    "mmdebstrap": ("mmdebstrap", "container tests"),
    "runsc": ("runsc", "container tests"),
}
NAMED_PACKAGES = re.compile(r"apt-get install ([a-z0-9.+ -]+)")


@dataclass(frozen=True)
class Missing:
    what: str
    why: str
    hint: str

    @property
    def packages(self) -> list[str]:
        named = NAMED_PACKAGES.search(self.hint)
        return named[1].split() if named else []


async def find_missing() -> list[Missing]:
    toolchains = Toolchains()
    missing: list[Missing] = []
    for language in Languages():
        try:
            await toolchains.find(language)
        except ToolchainMissing as error:
            missing.append(Missing(f"{language.title} tests", error.message, error.hint))
    for command, (package, what) in OTHERS.items():
        if not shutil.which(command):
            why = f"there is no {command}"
            missing.append(Missing(what, why, f"apt-get install {package}"))
    return missing


def packages_of(missing: Sequence[Missing]) -> list[str]:
    return list(dict.fromkeys(package for item in missing for package in item.packages))


def can_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: Sequence[str]) -> None:
    if not packages:
        return
    print("installing", *packages, file=sys.stderr, flush=True)
    quiet: Mapping[str, str] = {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        subprocess.run(
            ["apt-get", "--quiet=2", "-o", "Dpkg::Use-Pty=0", *command],
            env={**os.environ, **quiet},
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            check=False,  # what is missing is looked at afterwards
        )


def report(missing: Sequence[Missing]) -> None:
    print("\nleft out, because something is missing here:", file=sys.stderr)
    for item in missing:
        print(f"  {item.what}: {item.why}", file=sys.stderr)
        if not item.packages:
            print(f"    hint: {item.hint}", file=sys.stderr)
    if packages := packages_of(missing):
        command = "apt-get install --no-install-recommends " + " ".join(packages)
        print(f"to bring them in (Debian, Ubuntu):\n  sudo {command}\n", file=sys.stderr)


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--install"]:
        install(arguments[1:])
        return 0
    missing = asyncio.run(find_missing())
    if arguments == ["--packages"]:
        print(*packages_of(missing), sep="\n")
        return 0
    if missing and can_install():
        install(packages_of(missing))
        missing = asyncio.run(find_missing())
    if not missing:
        return 0
    report(missing)
    return 1 if os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
