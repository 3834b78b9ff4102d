"""`coderunner serve`: the HTTP service."""

from __future__ import annotations

from typing import Annotated

import typer

from coderunner.cli.options import EngineName, known_level, settings_from

Host = Annotated[
    str | None, typer.Option("--host", metavar="ADDRESS", help="Listen there. [default: 0.0.0.0]")
]
Port = Annotated[
    int | None, typer.Option("--port", metavar="NUMBER", help="Listen there. [default: 8000]")
]
Least = Annotated[
    str | None,
    typer.Option(
        "--isolation",
        metavar="LEVEL",
        help="Refuse anything weaker: none, sampled, full or vm. [default: full]",
    ),
]


def serve(
    host: Host = None, port: Port = None, engine: EngineName = None, isolation: Least = None
) -> int:
    """Serve over HTTP until somebody ends it.

    Who calls from this machine needs no token, everybody else does: see `coderunner token`.

    \b
    coderunner serve
    curl -H 'Content-Type: application/json' -d '{"code": "print(6 * 7)"}' \\
        localhost:8000/execute/python
    """
    from coderunner.cli import interrupts
    from coderunner.errors import InvalidInput

    given = {"host": host, "port": port, "min_isolation": known_level(isolation)}
    chosen = {name: value for name, value in given.items() if value is not None}
    settings = settings_from(engine, None, chosen)
    try:
        import uvloop

        from coderunner.server.serving import serve as serve_until_ended
    except ImportError as error:
        raise InvalidInput(
            f"the service needs more than the library does: {error}",
            hint="pip install 'coderunner[server]'",
        ) from None
    interrupts.run(serve_until_ended(settings), uvloop.new_event_loop)
    return 0
