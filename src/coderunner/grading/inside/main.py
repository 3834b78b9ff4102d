"""Grades one solution: hears of the tests, loads it, runs them, and reports one by one."""

from __future__ import annotations

import os
import sys

from _grading import (  # type: ignore[import-not-found]  # they are there in the box
    asserts,
    channel,
    loading,
    pristine,
    running,
    space,
    tripwire,
    verdicts,
)

TYPE_CHECKING = False  # importing `typing` takes time
if TYPE_CHECKING:
    from typing import Any

Kinds = "list[ModuleType]"


def main() -> None:
    line = channel.Channel()
    said = line.receive()
    try:
        kinds, restore, builtins = prepared(said)
    except ImportError as error:
        line.report("", "trouble", f"the tests need it, and it is not there: {error}")
        os._exit(0)
    statements = running.statements_of(said.pop("source"), asserts.rewritten)
    end, solution = os._exit, type(sys)(loading.NAMES[0])
    load, take_place = loading.load_solution, loading.stand_for_solution
    new_space, new_run, names = space.Space, running.Run, asserts.names()
    if said["separate"]:
        trouble = _part("remote").fill(solution, line)
    else:
        line.no_more()
        tripwire.close_memory()
        tripwire.arm(line.tripped, [*hide_ourselves(), *files_of_finders()])
        trouble = load(solution)
        line.mark("")
    restore()
    take_place(solution)
    if trouble:
        line.report("", "trouble", trouble)
        end(0)
    line.say("loaded")
    tests = new_space(solution, said["asked"], builtins)
    tests.names.update(names, __name__=said["name"])
    tests.keep(names)
    run = new_run(line, tests, restore)
    run.statements(statements, said["statements"])
    run.functions(said["functions"])
    for kind in kinds:
        kind.run(run, said["groups"])
    line.report("", "done")
    end(0)


def prepared(said: dict[str, Any]) -> tuple[Any, ...]:
    """What tests need, imported before the solution could be in the way: how to run each kind of
    test; what puts things back."""
    import linecache  # noqa: F401 - so that it is put back

    # Not even by others that they import is the solution to be run now.
    sys.modules.update(dict.fromkeys(loading.NAMES))
    kinds = [_part(kind) for kind in said["kinds"]]
    for name in said["imports"]:
        try:  # noqa: SIM105 - the same
            __import__(name)
        except BaseException:  # noqa: S110 - the tests will see for themselves
            pass
    for name in loading.NAMES:
        del sys.modules[name]
    # What the solution leaves in its directory is not to be found before the library.
    sys.path.append(sys.path.pop(0))
    watched = {name.partition(".")[0] for name in said["imports"]}
    watched.update(("ast", "linecache", "_grading", "__main__"))
    for kind in kinds:
        watched.update(kind.WATCHED)
    asserts.trust(said["imports"])
    return kinds, *pristine.taken_now(watched)


def _part(name: str) -> Any:
    """One that is not always needed."""
    return __import__(f"_grading.{name}", fromlist=["*"])


def hide_ourselves() -> list[str]:
    """The solution finds none of this, neither as modules nor as files."""
    folder, files = os.path.dirname(channel.__file__), [__file__, verdicts.TESTS]
    for name in [name for name in sys.modules if name.partition(".")[0] == "_grading"]:
        files.append(sys.modules.pop(name).__file__ or "")
    for where, _, names in os.walk(folder, topdown=False):
        for name in names:
            os.unlink(os.path.join(where, name))
        os.rmdir(where)
    return files


def files_of_finders() -> list[str]:
    """Whoever finds modules may look who asks."""
    codes = (getattr(finder.find_spec, "__code__", None) for finder in sys.meta_path)
    return [code.co_filename for code in codes if code is not None]


main()
