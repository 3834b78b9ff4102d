"""The shortest door: one function, no `async`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coderunner.background import background
from coderunner.model import File, Limits, Program, Result
from coderunner.text import as_bytes


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
        _run(
            as_bytes(code, "code"),
            language,
            as_bytes(stdin, "stdin"),
            args if isinstance(args, str) else tuple(args),
            files or {},
            limits,
            collect,
        )
    )


async def _run(
    code: bytes,
    language: str,
    stdin: bytes,
    args: tuple[str, ...] | str,
    files: Mapping[str, str | bytes],
    limits: Limits | None,
    collect: Iterable[str],
) -> Result:
    runner = await background().runner()
    main = File(runner.languages.get(language).source, code)
    others = (File(name, as_bytes(content, f"file {name!r}")) for name, content in files.items())
    program = Program(language, (main, *others), args)  # type: ignore[arg-type]  # checked later
    return await runner.run(program, limits=limits, stdin=stdin, collect=collect)
