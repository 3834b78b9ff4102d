"""The image of the service where no registry can be reached: what deploy/Dockerfile makes, by
mmdebstrap from Debian's packages, and by pip from wherever pip gets its own (`scripts/images.py
--service`).

What is compiled is compiled here, so it needs a C library that is no newer than that Debian's.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
HOME = "/opt/coderunner"
PYTHON_VERSION = "3.11"  # that Debian's
EXTRAS = "server,notebook"
_KEPT = ("USER", "ENV", "EXPOSE", "ENTRYPOINT", "CMD")
_PIN = re.compile(r"^[A-Za-z0-9._-]+==[^ ;]+", re.MULTILINE)

_COMMAND = f"""\
#!{HOME}/bin/python
import sys

from coderunner.cli import main

sys.exit(main())
"""


def instructions() -> list[str]:
    """What the Dockerfile says of the image itself, in the form that `docker import` takes."""
    last = DOCKERFILE.read_text(encoding="utf-8").rpartition("\nFROM ")[2]
    return [line for line in last.splitlines() if line.startswith(_KEPT)]


def packages(for_languages: Sequence[str]) -> list[str]:
    """The Dockerfile's; other languages, if some are named, in place of its own."""
    text = DOCKERFILE.read_text(encoding="utf-8")
    default = re.search(r'^ARG PACKAGES="(.*)"$', text, re.MULTILINE)
    always = re.search(r"--no-install-recommends (.*) \$\{PACKAGES\}", text)
    assert default
    assert always
    return [*always[1].split(), *(for_languages or default[1].split())]


def hooks(folder: Path) -> list[str]:
    """What mmdebstrap is to do with the root, once its packages are in it."""
    _install(folder / "site-packages", folder)
    command = folder / "coderunner"
    command.write_text(_COMMAND)
    command.chmod(0o755)
    place = f"{HOME}/lib/python{PYTHON_VERSION}"
    done = [
        f'chroot "$1" python3 -m venv --without-pip {HOME}',
        f"copy-in {shlex.quote(str(folder / 'site-packages'))} {place}",
        f"copy-in {shlex.quote(str(command))} {HOME}/bin",
        f'ln -s {HOME}/bin/coderunner "$1/usr/local/bin/coderunner"',
    ]
    return [f"--customize-hook={hook}" for hook in done]


def _install(target: Path, folder: Path) -> None:
    """The package and what it needs, for another Python than the one that does it."""
    pins = folder / "constraints"
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins.write_text("\n".join(_PIN.findall(lock)))
    _pip("wheel", "--no-deps", f"--wheel-dir={folder}", str(ROOT))
    (wheel,) = folder.glob("coderunner-*.whl")
    _pip(
        *("install", f"--target={target}", "--no-compile", f"--constraint={pins}"),
        *("--only-binary=:all:", f"--python-version={PYTHON_VERSION}", *_platforms()),
        f"{wheel}[{EXTRAS}]",
    )


def _platforms() -> Iterator[str]:
    machine = os.uname().machine
    return (f"--platform={kind}_{machine}" for kind in ("manylinux_2_28", "manylinux2014", "linux"))


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    pip = command if _has_pip() else ["python3", *command[1:]]
    if subprocess.run([*pip, *arguments], check=False).returncode:
        sys.exit(f"pip {arguments[0]} failed")


def _has_pip() -> bool:
    asked = [sys.executable, "-c", "import pip"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0
