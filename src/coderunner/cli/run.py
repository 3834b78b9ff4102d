"""`coderunner run`: one program, in a sandbox, as if it had been started directly."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from coderunner.cli.options import (
    AsJson,
    EngineName,
    IsolationLevel,
    Language,
    Remote,
    check_remote,
    settings_from,
)

if TYPE_CHECKING:
    from coderunner.as_json import Tool
    from coderunner.build import Build
    from coderunner.cli.program import Typed
    from coderunner.cli.streams import LiveOutput
    from coderunner.model import Limits, Output, Result
    from coderunner.runner import Runner
    from coderunner.settings import Settings


def _limit(flag: str, metavar: str, text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(flag, metavar=metavar, help=text)
    return option


def run(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE... [-- ARGS...]",
            help="The main file, then others that belong to it; - reads the source from stdin.",
            show_default=False,
        ),
    ] = None,
    language: Language = None,
    code: Annotated[
        str | None,
        typer.Option("-c", "--code", metavar="CODE", help="The program itself; needs -l."),
    ] = None,
    data_files: Annotated[
        list[str] | None,
        typer.Option(
            "--file", metavar="[NAME=]PATH", help="A file the program finds in its directory."
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME=VALUE", help="A variable of its environment."),
    ] = None,
    time: Annotated[str | None, _limit("--time", "TIME", "Wall-clock time. [default: 10s]")] = None,
    cpu_time: Annotated[
        str | None, _limit("--cpu-time", "TIME", "Cpu time of all its processes.")
    ] = None,
    memory: Annotated[
        str | None, _limit("--memory", "SIZE", "Memory of all its processes. [default: 256M]")
    ] = None,
    processes: Annotated[
        str | None, _limit("--processes", "N", "Processes and threads at once. [default: 256]")
    ] = None,
    output: Annotated[
        str | None,
        _limit("--output", "SIZE", "Written to one stream before it is stopped. [default: 64M]"),
    ] = None,
    keep: Annotated[
        str | None,
        _limit("--keep", "SIZE", "Kept of each stream for the JSON, head and tail. [default: 1M]"),
    ] = None,
    disk: Annotated[
        str | None, _limit("--disk", "SIZE", "Size of its files. [default: 64M]")
    ] = None,
    file_count: Annotated[
        str | None, _limit("--files", "N", "Number of its files. [default: 10000]")
    ] = None,
    open_files: Annotated[
        str | None, _limit("--open-files", "N", "Files open at once. [default: 1024]")
    ] = None,
    stack: Annotated[
        str | None, _limit("--stack", "SIZE", "Stack of its main thread. [default: 64M]")
    ] = None,
    cpus: Annotated[
        str | None, _limit("--cpus", "CORES", "Cores' worth of cpu at any time, such as 0.5.")
    ] = None,
    address_space: Annotated[
        str | None, _limit("--address-space", "SIZE", "Virtual memory of each process.")
    ] = None,
    tty: Annotated[
        bool, typer.Option("-t", "--tty", help="Run it in a terminal, shown in yours.")
    ] = False,
    remote: Remote = None,
    engine: EngineName = None,
    isolation: IsolationLevel = None,
    as_json: AsJson = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="No status line and no hints.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("-v", "--verbose", help="Status line and compiler warnings, terminal or not."),
    ] = False,
) -> int:
    """Run a program in a sandbox.

    Its output comes out byte for byte as it is written, its input is yours, its exit code becomes
    ours. Files lie in its directory as they lie on disk, below the directory they have in common.

    \b
    coderunner run hello.py
    coderunner run examples/primes.cpp < input.txt
    coderunner run main.c util.c util.h -- --level 3
    coderunner run -l python -c 'print(open("data.csv").read())' --file data.csv
    generate | coderunner run -l python - --time 2s --memory 128M
    coderunner run --remote http://build.example:8000 hello.py

    A TIME is 2s, 1.5s, 500ms or 2m, a plain number means seconds. A SIZE is 128M, 1G or 512K, a
    plain number means M; 1M is 1024K.

    With --remote a service runs it (see `coderunner serve`), which may allow less. The token that
    it wants is read from CODERUNNER_TOKEN.

    \b
    Exit codes, beside the program's own:
      1    it did not compile
      2    the command line makes no sense
      3    this machine cannot run it: no usable engine, no toolchain
      124  it took too long           137  it needed too much memory
      125  it broke another limit     126  it could not be started
      128 + N  signal N ended it (130: Ctrl-C, 141: nobody reads its output)
      70   a bug in coderunner        74   its output could not be written
    """
    from coderunner.cli import interrupts, limits
    from coderunner.cli.program import Typed

    given = {
        "--time": time, "--cpu-time": cpu_time, "--memory": memory, "--processes": processes,
        "--output": output, "--keep": keep, "--disk": disk, "--files": file_count,
        "--open-files": open_files, "--stack": stack, "--cpus": cpus,
        "--address-space": address_space,
    }  # fmt: skip
    check_remote(remote, engine=engine, isolation=isolation)
    order = Order(
        typed=Typed(files or (), context.obj or (), code, language, data_files or (), env or ()),
        limits=limits.from_flags(given),
        settings=settings_from(engine, isolation),
        tty=tty,
        as_json=as_json,
        quiet=quiet,
        chatty=not quiet and (verbose or (os.isatty(2) and not as_json)),
    )
    if remote is None:
        return interrupts.run(_carry_out(order))
    from coderunner.cli.remote import carry_out

    return interrupts.run(carry_out(order, remote))


@dataclass(frozen=True, slots=True)
class Order:
    """What was asked for, understood."""

    typed: Typed
    limits: Limits
    settings: Settings
    tty: bool
    as_json: bool
    quiet: bool
    chatty: bool  # status line, notices and compiler warnings are wanted


async def _carry_out(order: Order) -> int:
    from coderunner.cli import messages
    from coderunner.cli.program import read_program
    from coderunner.cli.threads import Worker
    from coderunner.notices import ignore
    from coderunner.runner import Runner

    check_tty(order)
    order.limits.check_below(order.settings.ceiling)
    notice = messages.news() if order.chatty else ignore
    async with Runner.open(order.settings, notice=notice) as runner:
        program = await Worker("source").call(
            lambda: read_program(order.typed, runner.languages, disk_mb=order.limits.disk_mb)
        )
        async with runner.build(program) as build:
            return await _run(order, runner, build)


async def _run(order: Order, runner: Runner, build: Build) -> int:
    from coderunner.cli.streams import LiveOutput
    from coderunner.model import Result

    compilation = build.compilation
    if compilation is not None and not order.as_json and (order.chatty or not build.ok):
        show_compiler(compilation.stdout, compilation.stderr)
    output = LiveOutput()
    if build.ok:
        result = await _execute(order, build, output)
    else:
        result = Result(build.compilation, None)
    return conclude(order, result, build.recipe.toolchain, in_mid_line=output.in_mid_line)


def conclude(order: Order, result: Result, tool: Tool, *, in_mid_line: bool) -> int:
    """Say what is left to say, and return the exit code."""
    from coderunner.cli import as_json, exit_codes

    if order.as_json:
        as_json.write(as_json.of_result(result, tool))
    else:
        _comment(order, result, in_mid_line=in_mid_line)
    return exit_codes.of_result(result)


async def _execute(order: Order, build: Build, output: LiveOutput) -> Result:
    from coderunner.cli.streams import stdin_chunks

    stdin = None if order.typed.takes_stdin else stdin_chunks()
    sink = None if order.as_json else output
    if not order.tty:
        return await build.run(limits=order.limits, stdin=stdin, sink=sink)
    from coderunner.cli.tty import lent

    with lent() as (terminal, started):
        return await build.run(
            limits=order.limits, stdin=stdin, sink=sink, terminal=terminal, started=started
        )


def check_tty(order: Order) -> None:
    """A conversation needs somebody who is asked, and who hears the answers."""
    from coderunner.errors import InvalidInput

    if order.tty and order.as_json:
        raise InvalidInput("--json shows nothing of a terminal", hint="leave out --tty")
    if order.tty and order.typed.takes_stdin:
        raise InvalidInput("the source takes stdin, so nobody can type", hint="put it in a file")


def show_compiler(*outputs: Output) -> None:
    """Some use stdout, some stderr, some both."""
    from coderunner.cli.streams import write_all

    for said in outputs:
        write_all(2, said.data)


def _comment(order: Order, result: Result, *, in_mid_line: bool) -> None:
    """What the program's own output does not tell."""
    from coderunner.cli import messages
    from coderunner.runner import COMPILE_LIMITS

    problem = messages.problem(result, order.limits, COMPILE_LIMITS)
    if in_mid_line and (problem or order.chatty):
        messages.say("")
    if problem is not None:
        messages.error(problem[0], "" if order.quiet else problem[1])
    if order.chatty:
        messages.notice(messages.status(result.outcome))
