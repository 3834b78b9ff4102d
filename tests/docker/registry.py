"""A real registry on loopback, and small images in it."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support import leave_out

USER, PASSWORD = "tester", "secret"


@contextlib.contextmanager
def serving(folder: Path, *, passwords: bool = False) -> Iterator[str]:
    """Where it listens."""
    if not shutil.which("docker-registry"):
        leave_out("there is no docker-registry", fix="apt-get install docker-registry")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder.mkdir()
    (folder / "passwords").write_text(f"{USER}:{_hashed()}\n")
    auth = f"auth: {{htpasswd: {{realm: tests, path: {folder}/passwords}}}}\n" if passwords else ""
    config = folder / "registry.yml"
    config.write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {folder}/kept}}}}\n"
        f"http: {{addr: '127.0.0.1:{port}'}}\nlog: {{level: error}}\n{auth}"
    )
    server = subprocess.Popen(
        ["docker-registry", "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def push(client: Any, name: str, *sizes: int, login: bool = False) -> str:
    """An image with a layer of each size, which is then in the registry, and not on the daemon.
    Returns its digest."""
    repository, _, tag = name.rpartition(":")
    made = client.api.import_image_from_data(_layer(0, 0), repository=repository, tag=tag)
    assert "error" not in made, made
    for number, size in enumerate(sizes, 1):
        lent = client.api.create_container(name, command=["/nothing"])
        client.api.put_archive(lent["Id"], "/", _layer(number, size))
        client.api.commit(lent["Id"], repository=repository, tag=tag)
        client.api.remove_container(lent["Id"])
    auth = {"username": USER, "password": PASSWORD} if login else None
    said = client.images.push(repository, tag=tag, auth_config=auth)
    assert "error" not in said, said
    [digest] = client.images.get(name).attrs["RepoDigests"]
    client.images.remove(name, force=True)
    return str(digest)


def _layer(number: int, size: int) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        entry = tarfile.TarInfo(f"file {number}")
        entry.size = size
        tar.addfile(entry, io.BytesIO(os.urandom(size)))
    return archive.getvalue()


def _hashed() -> str:
    """As the registry wants it. Perl asks the C library."""
    salt = "$2b$04$" + "a" * 22
    asked = ["perl", "-e", "print crypt($ARGV[0], $ARGV[1])", PASSWORD, salt]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout
