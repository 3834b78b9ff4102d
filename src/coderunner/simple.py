"""The shortest door: one function, no `async`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coderunner.background import background
from coderunner.model import File, Limits, Program, Result


def run(
    code: str | bytes,
    *,
    language: str = "python",
    stdin: str | bytes = b"",
    args: Iterable[str] = (),
    files: Mapping[str, str | bytes] | None = None,
    limits: Limits | None = None,
    collect: Iterable[str] = (),
) -> Result:
    """Compile and run `code` in the sandbox and return the facts.

    `files` are put beside it, `collect` names (globs) what to bring back from its directory.
    """
    return background().call(
        _run(_bytes(code), language, _bytes(stdin), tuple(args), files or {}, limits, collect)
    )


async def _run(
    code: bytes,
    language: str,
    stdin: bytes,
    args: tuple[str, ...],
    files: Mapping[str, str | bytes],
    limits: Limits | None,
    collect: Iterable[str],
) -> Result:
    runner = await background().runner()
    main = File(runner.languages.get(language).source, code)
    others = (File(name, _bytes(content)) for name, content in files.items())
    program = Program(language, (main, *others), args)
    return await runner.run(program, limits=limits, stdin=stdin, collect=collect)


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
