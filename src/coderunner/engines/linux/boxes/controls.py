"""Reading and writing the kernel's control files, as in /proc and /sys: one call, no buffering."""

from __future__ import annotations

import os


def read(path: str) -> str:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # One read returns a whole control file; mountinfo can be longer.
        parts = []
        while part := os.read(fd, 65536):
            parts.append(part)
        return b"".join(parts).decode("utf-8", "surrogateescape")
    finally:
        os.close(fd)


def write(path: str, value: int | str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)
