"""Docker as a contender, where an engine is up: a container per run, and one that stays up.

Both see the host's own system, read-only, over whatever image is there: so that it is the same
interpreter for everybody, and nothing has to be downloaded.
"""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path

from bench.sandboxes import WORKSPACE, Commands, Inside, Missing, find

_PATIENCE_SECONDS = 10.0
_SYSTEM = ("/usr", "/bin", "/lib", "/lib64")
_WALLS = ("--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")


class Docker:
    """Raises Missing unless there is a client, an engine that answers, and an image."""

    def __init__(self) -> None:
        self._client = find("docker", "install Docker, then: systemctl start docker")
        if not self._ask("version", "--format", "{{.Server.Version}}"):
            raise Missing("no Docker engine is up", "systemctl start docker")
        images = self._ask("image", "ls", "--quiet").split()
        if not images:
            raise Missing("Docker has no image here", "docker pull debian:12-slim")
        self._image = images[0]

    def run(self, inside: Inside) -> Commands:
        return Commands((*self._run(inside, "--rm", "-i"), *inside.words(WORKSPACE)), os.environ)

    def exec(self, inside: Inside, at_end: Callable[[Callable[[], object]], object]) -> Commands:
        """Starts the container that stays up; `at_end` is told how to remove it."""
        name = f"coderunner-bench-{uuid.uuid4().hex[:12]}"
        at_end(lambda: self._ask("rm", "--force", name))
        if not self._ask(*self._run(inside, "--detach", "--name", name)[1:], "sleep", "infinity"):
            raise Missing("Docker cannot start a container", f"try: docker run {self._image} true")
        main = (self._client, "exec", "-i", name, *inside.words(WORKSPACE))
        return Commands(main, os.environ)

    def _run(self, inside: Inside, *options: str) -> tuple[str, ...]:
        shown = [(os.path.realpath(path), path) for path in _SYSTEM if Path(path).is_dir()]
        shown += [(str(mount.source), mount.target) for mount in inside.mounts]
        shown.append((str(inside.folder), WORKSPACE))
        return (
            *(self._client, "run", *options, *_WALLS, "--workdir", WORKSPACE, "--entrypoint", ""),
            *(word for pair in shown for word in ("--volume", ":".join((*pair, "ro")))),
            *(word for name, value in inside.env.items() for word in ("--env", f"{name}={value}")),
            self._image,
        )

    def _ask(self, *words: str) -> str:
        """What the client printed; nothing if it failed or there was no answer."""
        try:
            asked = subprocess.run(
                [self._client, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_PATIENCE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ""
        return asked.stdout.strip() if asked.returncode == 0 else ""
