"""A daemon that is reached by SSH: its socket, forwarded to one of ours by the `ssh` command.

So keys, agents, jump hosts and everything else that stands in `~/.ssh/config` hold here, too.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

from coderunner.errors import EngineUnavailable
from coderunner.forks import dropped_in_children, no_fork
from coderunner.workspace.root import process_root

SCHEME = "ssh://"
_THERE = "/var/run/docker.sock"
_PATIENCE_S = 30
_LOOK_EVERY_S = 0.02
_ENDING_S = 5
_OPTIONS = (
    "BatchMode=yes",  # there is nobody to ask
    "ExitOnForwardFailure=yes",
    "StreamLocalBindUnlink=yes",
    "StreamLocalBindMask=0177",
    "ConnectTimeout=20",
    "ServerAliveInterval=15",
)
# It ends when its stdin does, which is when we are no more.
_WAIT = "cat"


class Tunnel:
    """Blocking, from any thread."""

    def __init__(self, address: str) -> None:
        place = urlsplit(address)
        self._host, port = _host(address)
        self._target = [
            *(("-l", unquote(place.username)) if place.username else ()),
            *(("-p", str(port)) if port else ()),
        ]
        self._there = place.path if place.path not in ("", "/") else _THERE
        self._folder = process_root() / f"ssh-{secrets.token_hex(4)}"
        self._here = self._folder / "docker.sock"
        self._ssh: subprocess.Popen[bytes] | None = None
        self._opening = threading.Lock()
        dropped_in_children(self)

    @property
    def address(self) -> str:
        """Where the daemon seems to listen."""
        return f"unix://{self._here}"

    def open(self) -> None:
        """It may have been open, or have broken down. Raises EngineUnavailable."""
        with self._opening:
            if self._ssh is None or self._ssh.poll() is not None:
                self._end()
                self._start()

    def close(self) -> None:
        with self._opening:
            self._end()
            shutil.rmtree(self._folder, ignore_errors=True)

    def drop(self) -> None:
        if self._ssh is not None and self._ssh.stdin is not None:
            self._ssh.stdin.close()

    def _start(self) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        said = self._folder / "said"
        options = (word for option in _OPTIONS for word in ("-o", option))
        forwarding = f"{self._here}:{self._there}"
        command = ["ssh", "-T", *options, "-L", forwarding, *self._target, "--", self._host, _WAIT]
        with no_fork, said.open("wb") as errors:
            try:
                self._ssh = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,  # Ctrl-C is ours to hear
                )
            except FileNotFoundError as error:
                raise EngineUnavailable(
                    "there is no ssh command to reach Docker with",
                    hint="apt-get install openssh-client",
                ) from error
        self._wait_for(self._ssh, said)

    def _wait_for(self, ssh: subprocess.Popen[bytes], said: Path) -> None:
        until = time.monotonic() + _PATIENCE_S
        while not _listens(self._here):
            if ssh.poll() is not None or time.monotonic() > until:
                self._end()
                words = said.read_text(errors="replace").strip().splitlines()
                raise EngineUnavailable(
                    f"cannot reach {self._host} by SSH: {words[-1] if words else 'no answer'}",
                    hint=f"see that `ssh {' '.join([*self._target, self._host])} docker info` "
                    "works, without a question being asked",
                )
            time.sleep(_LOOK_EVERY_S)

    def _end(self) -> None:
        ssh, self._ssh = self._ssh, None
        if ssh is None:
            return
        with contextlib.suppress(OSError):
            if ssh.stdin is not None:
                ssh.stdin.close()
        ssh.terminate()
        try:
            ssh.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            ssh.kill()
            ssh.wait()
        self._here.unlink(missing_ok=True)


def _listens(path: Path) -> bool:
    """ssh makes the socket before it listens."""
    with socket.socket(socket.AF_UNIX) as end:
        return end.connect_ex(str(path)) == 0


def _host(address: str) -> tuple[str, int | None]:
    place = urlsplit(address)
    with contextlib.suppress(ValueError):  # of a port that is no number
        if place.hostname:
            return place.hostname, place.port
    raise EngineUnavailable(
        f"{address} names no host", hint="DOCKER_HOST=ssh://user@host, or ssh://user@host:port"
    )
