"""One compilation as bytes.

    magic  digest (32 bytes)  length of the head (4 bytes)  head (JSON)  the contents, one by one

The digest covers the key and all that follows: an entry that is damaged, cut short or filed under
another key is none.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from coderunner.model import EndedBy, File, Isolation, Outcome, Output, Usage
from coderunner.workspace import CollectedFile, is_executable

_MAGIC = b"coderunner compiled 1\n"
_DIGEST_BYTES = 32
_LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compilation, and the files it made."""

    outcome: Outcome
    files: tuple[File, ...]


def pack(key: str, compiled: Compiled) -> bytes:
    """Only a compilation that went well: its exit code is not written down."""
    outcome = compiled.outcome
    contents = [
        *(part for out in (outcome.stdout, outcome.stderr) for part in (out.head, out.tail)),
        *(file.content for file in compiled.files),
    ]
    head = {
        "usage": asdict(outcome.usage),
        "isolation": outcome.isolation.value,
        "engine": outcome.engine,
        "dropped": [outcome.stdout.dropped, outcome.stderr.dropped],
        "files": [[file.name, is_executable(file)] for file in compiled.files],
        "sizes": [len(content) for content in contents],
    }
    encoded = json.dumps(head).encode("ascii")  # names that are not Unicode travel as \udc..
    body = b"".join([len(encoded).to_bytes(_LENGTH_BYTES), encoded, *contents])
    return _MAGIC + _digest(key, body) + body


def unpack(key: str, data: bytes) -> Compiled | None:
    """What was packed under this key, or None for anything else. Its outcome says `cached`."""
    start = len(_MAGIC) + _DIGEST_BYTES
    magic, digest, body = data[: len(_MAGIC)], data[len(_MAGIC) : start], data[start:]
    if magic != _MAGIC or not hmac.compare_digest(digest, _digest(key, body)):
        return None
    length = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES])
    head: dict[str, Any] = json.loads(body[_LENGTH_BYTES:length])
    return _compiled(head, _cut(body[length:], head["sizes"]))


def _compiled(head: dict[str, Any], contents: Iterator[bytes]) -> Compiled:
    stdout, stderr = (Output(next(contents), next(contents), n) for n in head["dropped"])
    outcome = Outcome(
        ended_by=EndedBy.EXIT,
        exit_code=0,
        signal=None,
        usage=Usage(**head["usage"]),
        stdout=stdout,
        stderr=stderr,
        isolation=Isolation(head["isolation"]),
        engine=head["engine"],
    )
    files = tuple(CollectedFile(name, next(contents), runs) for name, runs in head["files"])
    return Compiled(replace(outcome, cached=True), files)


def _cut(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    start = 0
    for size in sizes:
        yield data[start : start + size]
        start += size


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_BYTES, key=bytes.fromhex(key)).digest()
