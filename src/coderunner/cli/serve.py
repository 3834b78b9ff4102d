"""`coderunner serve`: the HTTP service."""

from __future__ import annotations

from typing import Annotated

import typer

from coderunner.cli.options import EngineName, settings_from

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

    settings = settings_from(engine, None)
    given = {"host": host, "port": port, "min_isolation": isolation}
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        import uvloop

        from coderunner.server.serving import serve as serve_until_ended
    except ImportError as error:
        raise InvalidInput(
            f"the service needs more than the library does: {error}",
            hint="pip install 'coderunner[server]'",
        ) from None
    server = type(settings.server).model_validate({**dict(settings.server), **chosen})
    settings = settings.model_copy(update={"server": server})
    interrupts.run(serve_until_ended(settings), uvloop.new_event_loop)
    return 0
