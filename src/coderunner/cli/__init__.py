"""The command line: `coderunner run`, `judge`, `languages`, `doctor` and `config`.

    __init__.py    main(): the exit code of whatever happens
    app.py         the commands, put together
    run.py judge.py languages.py doctor.py config.py    one command each
    program.py limits.py units.py options.py    from what was typed to what is meant
    streams.py threads.py interrupts.py         stdin, stdout, stderr, signals
    messages.py tables.py as_json.py            what is shown: to people, to machines
    judge_typed.py judge_progress.py judge_report.py judge_words.py judge_json.py junit.py
                   what `judge` was asked, and all that it says
    screen.py      lines that stay, and one that changes
    exit_codes.py  how it ended, as a number

Nothing is imported before it is needed: `coderunner --help` should not wait for a sandbox.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence


def main() -> None:
    """The console script."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until there is something to clean up, Ctrl-C just ends us, without a traceback.
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    sys.exit(call(sys.argv[1:]))


def call(argv: Sequence[str]) -> int:
    """Carry out a command line and return its exit code. Raises nothing."""
    from coderunner.cli.streams import fill_closed_descriptors

    fill_closed_descriptors()
    argv, after_dashes = _split_arguments(argv)
    debug = "--debug" in argv or bool(os.environ.get("CODERUNNER_DEBUG"))
    try:
        return _invoke([arg for arg in argv if arg != "--debug"], after_dashes)
    except Exception as error:
        return _explain(error, as_json="--json" in argv, debug=debug)


def _split_arguments(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """What stands after `--` is the program's; the parser could not tell it from our files."""
    argv = list(argv)
    if "--" not in argv:
        return argv, []
    dashes = argv.index("--")
    return argv[:dashes], argv[dashes + 1 :]


def _invoke(argv: list[str], after_dashes: list[str]) -> int:
    from coderunner.cli.app import app

    code = app(argv, prog_name="coderunner", standalone_mode=False, obj=after_dashes)
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _explain(error: Exception, *, as_json: bool, debug: bool) -> int:
    """Tell what happened in words, or as JSON; returns the exit code for it. Only a bug of ours
    has a traceback."""
    from coderunner.cli import failures

    with contextlib.suppress(Exception):  # stderr may be gone, too
        sys.stdout.flush()
    failure = failures.of(error)
    if debug and failure.is_bug:
        failures.show_traceback(error)
    if failure.message:
        failures.report(failure, as_json=as_json)
    return failure.exit_code
