"""Images for daemons of the tests' own: made in no time, with one program or none."""

from __future__ import annotations

import contextlib
import io
import subprocess
import tarfile
import tempfile
from pathlib import Path

from tests.docker.daemon import OwnDaemon, connect

EMPTY = "tests/empty:one"  # the warden is the only program in there
TALKING = "tests/talking:one"
TALK = "/talk"
_SOURCE = r"""
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void show(const char *path) {
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(text, 1, sizeof text, file) : 0;
    fwrite(text, 1, size, stdout);
}

/* talk count: how much stdin has; talk flood: 8 MB; talk show PATH: what is in that file */
int main(int count, char **words) {
    static char buffer[1 << 16];
    long long total = 0;
    ssize_t size;
    fprintf(stderr, "talking\n");
    if (count > 2 && !strcmp(words[1], "show")) show(words[2]);
    else if (count > 1 && !strcmp(words[1], "flood"))
        for (int part = 0; part < 128; part++) fwrite(buffer, 1, sizeof buffer, stdout);
    else {
        while ((size = read(0, buffer, sizeof buffer)) > 0) {
            total += size;
            printf("so far %lld\n", total);
            fflush(stdout);
        }
        printf("%lld\n", total);
    }
    return 0;
}
"""


def make_empty(daemon: OwnDaemon, file: str = "a file") -> None:
    _import(daemon, EMPTY, file, b"")


def make_talking(daemon: OwnDaemon) -> None:
    """One whose only program reads, writes and shows files."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "talk")
        subprocess.run(
            ["gcc", "-static", "-O1", "-x", "c", "-", "-o", program],
            input=_SOURCE.encode(),
            check=True,
        )
        _import(daemon, TALKING, TALK.lstrip("/"), program.read_bytes())


def _import(daemon: OwnDaemon, image: str, file: str, content: bytes) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        entry = tarfile.TarInfo(file)
        entry.size, entry.mode = len(content), 0o755
        tar.addfile(entry, io.BytesIO(content))
    name, _, tag = image.partition(":")
    with contextlib.closing(connect(daemon.address)) as client:
        client.api.import_image_from_data(archive.getvalue(), repository=name, tag=tag)
