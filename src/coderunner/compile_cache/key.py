"""Everything that can change what a compiler makes, as one hash.

The job with its command, environment, limits and mounts; the program's files; the tools, by their
files and not only by their version; and the stamps that a package manager leaves when it changes
a header or a library somewhere below /usr.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from coderunner import __version__
from coderunner.model import File, Isolation, Job
from coderunner.toolchain import Toolchain
from coderunner.workspace import is_executable
from coderunner.workspace.names import encoded

# Each changes when the system does: package databases, the loader's cache, what is installed by
# hand. Those that a system does not have count as absent, until it has them.
_SYSTEM = (
    "/etc/ld.so.cache",
    "/lib/apk/db/installed",
    "/usr/include",
    "/usr/lib",
    "/usr/local/bin",
    "/usr/local/include",
    "/usr/local/lib",
    "/var/lib/dpkg/status",
    "/var/lib/pacman/local",
    "/var/lib/rpm",
    "/var/lib/rpm/rpmdb.sqlite",
)


def compile_key(
    job: Job,
    files: Iterable[File],
    wanted: Sequence[str],
    toolchain: Toolchain,
    *,
    engine: str,
    isolation: Isolation,
    system: Sequence[str] = _SYSTEM,
) -> str:
    """Two compilations with the same key make the same thing. The job's workspace is left out:
    it is a directory with these files in it, wherever it lies."""
    mounts = [[str(mount.source), mount.target, mount.scratch] for mount in job.mounts]
    shown = [str(mount.source) for mount in toolchain.mounts]
    watched = [*toolchain.tools.values(), *shown, *system]
    facts = {
        "coderunner": __version__,
        "engine": engine,
        "isolation": isolation.value,  # a kept outcome says under which walls it was made
        "argv": job.argv,
        "env": dict(job.env),
        "limits": asdict(job.limits),
        "mounts": mounts,
        "wanted": list(wanted),
        "language": toolchain.language,
        "version": toolchain.version,
        "tools": dict(toolchain.tools),
        "image": toolchain.image,
        "watched": {path: identity(path) for path in watched},
    }
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for file in sorted(files, key=lambda file: file.name):
        name = encoded(file.name)
        # Lengths first, so that no two lists of files look the same when strung together.
        digest.update(b"%d %d %d\n" % (len(name), len(file.content), is_executable(file)))
        digest.update(name)
        digest.update(file.content)
    return digest.hexdigest()


def identity(path: str) -> list[int] | None:
    """Changes when a file is replaced or rewritten, or an entry of a directory is."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
    ]  # fmt: skip
