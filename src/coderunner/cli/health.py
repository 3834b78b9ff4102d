"""`coderunner health`: how a service is, for people and for probes of containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from coderunner.cli.options import AsJson, Remote, settings_from

if TYPE_CHECKING:
    from coderunner.answers import HealthAnswer


def health(remote: Remote = None, as_json: AsJson = False) -> int:
    """Ask a service how it is; without --remote, the one on this machine.

    \b
    coderunner health
    coderunner health --remote https://run.example.org

    \b
    Exit codes:
      0  it serves; also if a worker is stopped, which its next run starts again
      1  nothing good answers           2  usage
    """
    from coderunner.cli import as_json as json
    from coderunner.cli import interrupts, messages
    from coderunner.cli.exit_codes import NOT_AS_EXPECTED
    from coderunner.client.asynchronous import AsyncClient
    from coderunner.errors import CodeRunnerError, InvalidInput

    address = remote or f"http://127.0.0.1:{settings_from(None, None).server.port}"

    async def ask() -> HealthAnswer:
        async with AsyncClient(address, retry_s=0) as client:
            return await client.health()

    try:
        found = interrupts.run(ask())
    except InvalidInput:
        raise
    except CodeRunnerError as error:
        if as_json:
            json.write(json.of_failure(error))
        else:
            messages.error(error.message, error.hint)
        return NOT_AS_EXPECTED
    if as_json:
        json.write(found.model_dump())
    else:
        typer.echo(_in_words(found))
    return 0


def _in_words(found: HealthAnswer) -> str:
    stopped = [name for name, state in found.containers.items() if state == "stopped"]
    why = f", stopped: {' '.join(stopped)}" if stopped else ""
    return f"{found.status}, up for {found.uptime_seconds} s{why}"
