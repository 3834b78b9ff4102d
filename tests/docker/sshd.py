"""An SSH server for tests, on loopback, that lets in nobody but who has a key made for them."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.docker.unpacked import Program, program
from tests.support import leave_out

_STARTING_S = 30
_UID = 64999


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[int]:
    """Its port. The folder gets an `ssh` that is let in."""
    server = _server()
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    (folder / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/user.pub\nStrictModes no\nPermitRootLogin yes\n"
    )
    (folder / "ssh_config").write_text(
        f"IdentityFile {folder}/user\nIdentitiesOnly yes\nStrictHostKeyChecking no\n"
        f"UserKnownHostsFile {folder}/known\nLogLevel ERROR\n"
    )
    client = folder / "ssh"
    client.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
    client.chmod(0o755)
    Path("/run/sshd").mkdir(exist_ok=True)  # where it shuts in who is not known yet
    # It wants to be of a user that only the package makes: so it sees one, and nobody else does.
    passwd = Path("/etc/passwd").read_text()
    (folder / "passwd").write_text(f"{passwd}sshd:x:{_UID}:65534::/run/sshd:/usr/sbin/nologin\n")
    seeing = f'mount --bind {folder}/passwd /etc/passwd && exec "$@"'
    process = subprocess.Popen(
        [
            *("unshare", "--mount", "sh", "-c", seeing, "sh"),
            *(server.path, "-D", "-e", "-f", folder / "sshd_config"),
        ],
        env=server.env,
    )
    try:
        _wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


def _server() -> Program:
    if not shutil.which("ssh"):
        leave_out("there is no ssh", fix="apt-get install openssh-client")
    return program("sshd", "openssh-server", "libwrap0")


def _wait_for(port: int) -> None:
    until = time.monotonic() + _STARTING_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            assert time.monotonic() < until, "sshd does not start"
            time.sleep(0.05)
