"""A Docker daemon for tests: the one that runs here, or one that is started and stopped again."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from coderunner.settings import user_cache_dir
from tests.support import leave_out

IMAGE = "coderunner-tests:compilers"
LANGUAGES = ("bash", "c", "cpp", "perl", "python")  # that it has
RUNSC = "runsc"
_PACKAGES = "python3,gcc,g++,libc6-dev"
_RUNSC_ARGS = ["--network=none", "--platform=ptrace", "--ignore-cgroups"]
_USUAL = "unix:///var/run/docker.sock"
_MOST_TASKS = 6000
_STARTING_S = 60
_ENDING_S = 30
_AS_IT_IS: Mapping[str, str] = {}
_INSTALL = "apt-get install --no-install-recommends docker.io mmdebstrap"


@contextlib.contextmanager
def docker_address(folder: Path) -> Iterator[str]:
    """Where a daemon listens that has our image. After everything it has nothing else of ours."""
    with _address(folder) as address, contextlib.closing(connect(address)) as client:
        if not client.images.list(IMAGE):
            _import_image(client)
        before = everything(address)
        yield address
        left = everything(address) - before
        assert not left, f"the tests have left containers and volumes: {sorted(left)}"


def everything(address: str) -> set[str]:
    """All containers and all volumes, whosever they are."""
    containers = _said(address, "ps", "--all", "--format={{.Names}}")
    return {*containers, *_said(address, "volume", "ls", "--quiet")}


def _said(address: str, *command: str) -> list[str]:
    asked = ["docker", f"--host={address}", *command]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()


def connect(address: str) -> Any:
    import docker  # type: ignore[import-untyped]

    return docker.DockerClient(base_url=address)


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    if _answers():
        yield os.environ.get("DOCKER_HOST") or _USUAL
        return
    if os.geteuid() != 0:
        leave_out("there is no Docker daemon that this user may use", fix="sudo make test")
    if missing := [name for name in ("dockerd", "mmdebstrap") if not shutil.which(name)]:
        leave_out(f"there is no {' and no '.join(missing)}", fix=_INSTALL)
    with _daemon(folder) as address:
        yield address


def _answers(*host: str) -> bool:
    """Asked by the command line, since docker-py leaves a socket open when nobody answers."""
    if not shutil.which("docker"):
        return False
    asked = subprocess.run(["docker", *host, "version"], capture_output=True, check=False)
    return asked.returncode == 0


@contextlib.contextmanager
def _daemon(folder: Path) -> Iterator[str]:
    daemon = OwnDaemon(folder)
    daemon.start()
    try:
        yield daemon.address
    finally:
        daemon.stop()


class OwnDaemon:
    """Started by us, and nobody's child: tests count their children, and end them. It has no
    network to give, since it touches nothing of the machine's."""

    def __init__(
        self, folder: Path, *arguments: str, seeing: Mapping[str, str] = _AS_IT_IS
    ) -> None:
        """`seeing`: files that it has instead of the machine's, and what is in them."""
        self._folder = folder
        self._arguments = arguments
        self._seeing = seeing
        self.address = f"unix://{folder}/docker.sock"

    @property
    def pid(self) -> int:
        """0 if it does not run."""
        try:
            pid = int(self._folder.joinpath("docker.pid").read_text(encoding="ascii"))
            os.kill(pid, 0)
        except (OSError, ValueError):
            return 0
        return pid

    def start(self) -> None:
        folder, log = self._folder, self._folder / "dockerd.log"
        config = folder / "daemon.json"
        config.write_text(json.dumps(_configuration()))
        with log.open("ab") as output:
            subprocess.run(
                [
                    *("setsid", "--fork"),
                    *("unshare", "--mount"),  # what it mounts is nothing for other tests to see
                    *("sh", "-ec", f'{self._prepare()} exec "$@"', "sh"),
                    *("dockerd", f"--config-file={config}", f"--host={self.address}"),
                    *(f"--data-root={folder}/data", f"--exec-root={folder}/exec"),
                    *(f"--pidfile={folder}/docker.pid", *self._arguments),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=True,
            )
        until = time.monotonic() + _STARTING_S
        while not _answers(f"--host={self.address}"):
            if time.monotonic() > until:
                self.stop()
                raise RuntimeError(log.read_text())
            time.sleep(0.1)

    def _prepare(self) -> str:
        """What a shell does in its place first."""
        for path, content in self._seeing.items():
            (self._folder / Path(path).name).write_text(content)
        covering = [
            f"mount --bind {self._folder / Path(path).name} {path};" for path in self._seeing
        ]
        return "".join([*covering, self._confine()])

    def _confine(self) -> str:
        """To so many processes. What runs in gVisor without cgroups is the daemon's child, and a
        bomb that our own meter let through would take all that the machine has."""
        if self._cgroup is None:
            return ""
        self._cgroup.mkdir(exist_ok=True)
        self._cgroup.joinpath("pids.max").write_text(str(_MOST_TASKS))
        return f'echo $$ > "{self._cgroup}/cgroup.procs";'

    @property
    def _cgroup(self) -> Path | None:
        """Of v1 or v2, if processes can be counted there."""
        v1, v2 = Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup")
        name = f"coderunner-tests-{os.getpid()}-{self._folder.name}"
        if v1.joinpath("cgroup.procs").exists():
            return v1 / name
        shared = v2 / "cgroup.subtree_control"
        return v2 / name if shared.exists() and "pids" in shared.read_text().split() else None

    def stop(self) -> None:
        """Its containers end with it."""
        if pid := self.pid:
            end = os.pidfd_open(pid)
            try:
                signal.pidfd_send_signal(end, signal.SIGTERM)
                gone, _, _ = select.select([end], [], [], _ENDING_S)
                assert gone, "the daemon does not end"
            finally:
                os.close(end)
        self._remove_cgroup()

    def _remove_cgroup(self) -> None:
        """As soon as those are gone that outlive the daemon by a moment."""
        until = time.monotonic() + _ENDING_S
        while self._cgroup is not None and self._cgroup.exists():
            with contextlib.suppress(OSError):
                self._cgroup.rmdir()
                return
            assert time.monotonic() < until, "something that the daemon has started does not end"
            time.sleep(0.05)


def _configuration() -> dict[str, Any]:
    found = shutil.which(RUNSC)
    runtimes = {RUNSC: {"path": found, "runtimeArgs": _RUNSC_ARGS}} if found else {}
    return {"iptables": False, "ip6tables": False, "bridge": "none", "runtimes": runtimes}


def _import_image(client: Any) -> None:
    """Debian with a Python and a C compiler. Made once, and kept: it takes a minute."""
    archive = user_cache_dir() / "tests" / "compilers.tar"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        making = archive.with_suffix(f".{os.getpid()}.tar")
        subprocess.run(
            ["mmdebstrap", "--variant=minbase", f"--include={_PACKAGES}", "bookworm", making],
            check=True,
            capture_output=True,
        )
        making.rename(archive)
    name, _, tag = IMAGE.partition(":")
    client.api.import_image(src=str(archive), repository=name, tag=tag)
