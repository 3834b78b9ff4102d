"""`coderunner run --remote URL`: the same, where a service is."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from coderunner.cli.program import read_program
from coderunner.cli.run import check_tty, conclude, show_compiler
from coderunner.cli.streams import CannotWrite, LiveOutput, stdin_chunks
from coderunner.cli.threads import Worker
from coderunner.cli.tty import lent
from coderunner.client.asynchronous import AsyncClient
from coderunner.language import Languages
from coderunner.model import MIB, Output, Stream

if TYPE_CHECKING:
    from coderunner.cli.run import Order
    from coderunner.client.results import Answer
    from coderunner.model import Program

_SENT_AT_ONCE = 4 * MIB  # of a file: longer ones go piece by piece, too


async def carry_out(order: Order, remote: str) -> int:
    check_tty(order)
    async with AsyncClient(remote) as client:
        languages = Languages(order.settings.language_dirs())
        program = await Worker("source").call(
            lambda: read_program(order.typed, languages, disk_mb=order.limits.disk_mb)
        )
        output = _Output(order)
        answer = await _run(client, order, program, None if order.as_json else output)
    result = answer.result
    if not result.ok and result.execution is None and not order.as_json and not output.compiler:
        show_compiler(result.outcome.stdout, result.outcome.stderr)
    code = conclude(order, result, answer, in_mid_line=output.in_mid_line)
    if output.lost:
        raise CannotWrite(
            f"{output.lost} bytes of output are missing: they came faster than they could be sent, "
            "and the service had not kept them (--keep lets it keep more)"
        )
    return code


async def _run(client: AsyncClient, order: Order, program: Program, sink: _Output | None) -> Answer:
    if order.tty:
        with lent() as (terminal, started):
            return await client.converse(
                program,
                stdin=stdin_chunks(),
                sink=sink,
                terminal=terminal,
                started=started,
                limits=order.limits,
            )
    if order.typed.takes_stdin or _is_short():
        stdin = b"" if order.typed.takes_stdin else await _all_of_stdin()
        return await client.answer(program, stdin=stdin, sink=sink, limits=order.limits)
    return await client.converse(program, stdin=stdin_chunks(), sink=sink, limits=order.limits)


def _is_short() -> bool:
    """Whether stdin is something that ends, soon and by itself: a file, or /dev/null."""
    status = os.fstat(0)
    if stat.S_ISREG(status.st_mode):
        return status.st_size <= _SENT_AT_ONCE
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == os.stat(os.devnull).st_rdev


async def _all_of_stdin() -> bytes:
    return b"".join([chunk async for chunk in stdin_chunks()])


class _Output(LiveOutput):
    """What is printed there, here."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self._order = order
        self.compiler = False  # what it has said is shown already
        self.lost = 0

    async def compiled(self, said: tuple[Output, Output]) -> None:
        if self._order.chatty:
            self.compiler = True
            show_compiler(*said)

    async def missed(self, stream: Stream, count: int) -> None:
        self.lost += count
