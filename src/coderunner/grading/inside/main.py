"""Grades one solution: loads it, asks for the tests, runs them, and reports one by one.

    stdin    nothing until the solution is loaded; then the tests, and what proves a report genuine
    stdout   reports, in lines that begin with that proof; the solution does not have this stream
    stderr   what the solution and its tests print, with a mark behind each test

Everything used here is taken from its module now, before the solution can replace anything.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter

TYPE_CHECKING = False  # importing `typing` takes time
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from types import CodeType, ModuleType
    from typing import Any

    Work = Callable[[], object]

_write, _read, _exit, _getpid = os.write, os.read, os._exit, os.getpid
_eval, _exec, _compile, _str, _type, _format = eval, exec, compile, str, type, "{:.3f}".format
_vars, _getattr, _len, _open = vars, getattr, len, open
_Failure, _ModuleType = AssertionError, type(sys)

SOLUTION, TESTS = "solution.py", "tests.py"
_NAMES = ("solution", "main")  # under which tests may import it
_LONGEST = 2000


class Channel:
    """Where reports go and tests come from. The solution gets neither."""

    def __init__(self) -> None:
        self._out, self._in = os.dup(1), os.dup(0)  # not inherited by programs it starts
        self._pid = _getpid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self._proof = self._mark = b""

    def receive(self) -> dict[str, Any]:
        """The tests, once the solution is loaded."""
        self._send(b"loaded")
        parts = []
        while True:
            part = _read(self._in, 1 << 16)
            if not part:
                break
            parts.append(part)
        said: dict[str, Any] = _eval(b"".join(parts), {"__builtins__": {}})
        self._proof, self._mark = said.pop("proof"), said.pop("mark")
        return said

    def report(
        self, item: str, status: str, message: str = "", line: int = 0, ms: float = 0.0
    ) -> None:
        text = _cut(message).encode("utf-8", "backslashreplace").hex() or "-"
        words = ("result", item.encode().hex(), status, _str(line), _format(ms), text)
        _flush()
        self._say(2, self._mark + item.encode().hex().encode() + b"\n")
        self._send(self._proof + b" " + " ".join(words).encode())

    def announce(self, item: str, names: Iterable[str]) -> None:
        """One of the tests that were expected is really these."""
        for name in names:
            words = f"found {item.encode().hex()} {name.encode().hex()}"
            self._send(self._proof + b" " + words.encode())

    def started(self, item: str) -> None:
        self._send(self._proof + b" started " + item.encode().hex().encode())

    def _send(self, line: bytes) -> None:
        self._say(self._out, b"\n" + line + b"\n")

    def _say(self, descriptor: int, data: bytes) -> None:
        if _getpid() != self._pid:
            _exit(1)  # a copy that the solution has made of us
        while data:
            data = data[_write(descriptor, data) :]


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - `contextlib` is not ours to import
            stream.flush()
        except BaseException:  # noqa: S110 - the solution may have put anything there
            pass


def _cut(text: str) -> str:
    return text if _len(text) <= _LONGEST else text[:_LONGEST] + "…"


def explained(error: BaseException) -> str:
    """What went wrong, and the last place of it in the solution or in the tests."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename in (SOLUTION, TESTS):
            place = f" ({code.co_filename}, line {trace.tb_lineno})"
        trace = trace.tb_next
    try:
        said = _cut(_str(error))
    except BaseException:
        said = "it cannot be shown"
    kind = _type(error).__name__
    if isinstance(error, SyntaxError):
        place = ""  # it says so itself
    return f"{kind}: {said}{place}" if said else f"{kind}{place}"


def line_in_tests(error: BaseException) -> int:
    """Where the tests were when this happened; 0 if they were not."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == TESTS:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def verdict(work: Work) -> tuple[str, str, int]:
    """Do a test, and say what came of it: status, message, line."""
    try:
        work()
    except _Failure as error:
        return "failed", _message(error), line_in_tests(error)
    except BaseException as error:
        return "error", explained(error), line_in_tests(error)
    return "passed", "", 0


def _message(error: AssertionError) -> str:
    """An assert of the tests says itself what it has compared."""
    try:
        said = _str(error)
    except BaseException:
        said = ""
    return said if said[:7] == "assert " else explained(error)


def load_solution(module: ModuleType) -> str:
    """Run the solution as this module; what kept it from loading, or nothing."""
    module.__file__ = SOLUTION
    for name in _NAMES:
        sys.modules[name] = module
    sys.argv[:] = [SOLUTION]
    try:
        with _open(SOLUTION, "rb") as file:
            code = _compile(file.read(), SOLUTION, "exec", dont_inherit=True)
        _exec(code, _vars(module))
    except BaseException as error:
        return explained(error)
    return ""


def space_for_tests(
    module: ModuleType, asked: Collection[str], builtins: dict[str, Any]
) -> ModuleType:
    """The tests' module: it has the names of the solution, and built-in functions that really are.

    A solution may be called `sum`; one that brings an `abs` beside it, for its tests to use, may
    not. So such names count only if there is no other that the tests could be asking for."""
    own = {name: value for name, value in _vars(module).items() if name[:2] != "__"}
    hiding = [name for name in own if name in builtins]
    if [name for name in asked if name in own and name not in hiding]:
        for name in hiding:
            del own[name]
    space = _ModuleType("tests")
    space.__file__ = TESTS
    sys.modules["tests"] = space
    _vars(space).update(own, __builtins__=builtins)
    return space


class Run:
    """Tests that are run, one after the other."""

    def __init__(self, channel: Channel, space: ModuleType, restore: Work) -> None:
        self.channel = channel
        self.space = space
        self.restore = restore

    def statements(self, codes: Iterable[tuple[int, CodeType]], items: Mapping[int, str]) -> None:
        """The tests' module, statement by statement. Those that are tests have an item; of the
        others only trouble is told."""
        for index, (line, code) in enumerate(codes):
            item = items.get(index)
            if item is not None:
                self.test(item, self._doing(code))
                continue
            status, message, where = verdict(self._doing(code))
            if status != "passed":
                self.channel.report(f"line {line}", "error", message, where or line)

    def _doing(self, code: CodeType) -> Work:
        return lambda: _exec(code, _vars(self.space))

    def functions(self, items: Iterable[str]) -> None:
        for item in items:
            self.test(item, self._calling(item))

    def _calling(self, name: str) -> Work:
        def call() -> None:
            result = _vars(self.space)[name]()
            if _getattr(result, "__await__", None) is not None:
                import asyncio

                asyncio.run(result)

        return call

    def test(self, item: str, work: Work) -> None:
        self.restore()
        self.channel.started(item)
        begin = perf_counter()
        status, message, line = verdict(work)
        self.channel.report(item, status, message, line, (perf_counter() - begin) * 1000)


def codes_of(source: str, rewritten: Callable[[Any, list[str]], Any]) -> list[tuple[int, CodeType]]:
    """Each statement of the tests with its line, so that one that fails does not end them all."""
    import __future__

    import ast

    tree, lines = ast.parse(source), source.split("\n")
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for name in node.names:
                flags |= _getattr(__future__, name.name).compiler_flag
    return [
        (
            node.lineno,
            _compile(rewritten(ast.Module([node], []), lines), TESTS, "exec", flags, True),
        )
        for node in tree.body
    ]


def prepared(early: dict[str, Any]) -> tuple[Any, ...]:
    """What tests need, imported before the solution could be in the way: how to run each kind of
    test; what makes asserts talk; what puts things back."""
    import linecache  # noqa: F401 - so that it is put back

    from _grading.asserts import (  # type: ignore[import-not-found]  # they are there in the box
        names,
        rewritten,
    )
    from _grading.pristine import taken_now  # type: ignore[import-not-found]

    kinds = {kind: __import__(f"_grading.{kind}", fromlist=["run"]) for kind in early["kinds"]}
    for name in early["imports"]:
        try:  # noqa: SIM105 - the same
            __import__(name)
        except BaseException:  # noqa: S110 - the tests will see for themselves
            pass
    # What the solution leaves in its directory is not to be found before the library.
    sys.path.append(sys.path.pop(0))
    watched = {name.partition(".")[0] for name in early["imports"]}
    watched.update(("ast", "linecache", "_grading", "__main__"))
    for kind in kinds.values():
        watched.update(kind.WATCHED)
    restore, builtins = taken_now(watched)
    return kinds, names(), rewritten, restore, builtins


def main() -> None:
    early = _eval(sys.argv[1], {"__builtins__": {}})
    try:
        kinds, names, rewritten, restore, builtins = prepared(early)
    except ImportError as error:
        channel = Channel()
        channel.receive()
        channel.report("", "trouble", f"the tests need it, and it is not there: {error}")
        _exit(0)
    channel = Channel()
    module = _ModuleType(_NAMES[0])
    for name in [name for name in sys.modules if name.partition(".")[0] == "_grading"]:
        del sys.modules[name]
    sys.modules["__main__"] = module
    trouble = load_solution(module)
    _flush()
    restore()
    for name in (*_NAMES, "__main__"):
        sys.modules[name] = module
    said = channel.receive()
    if trouble:
        channel.report("", "trouble", trouble)
        _exit(0)
    codes = codes_of(said["source"], rewritten)
    sys.modules["linecache"].cache[TESTS] = (
        _len(said["source"]), None, said["source"].splitlines(True), TESTS
    )  # fmt: skip
    space = space_for_tests(module, said["asked"], builtins)
    _vars(space).update(names)
    run = Run(channel, space, restore)
    run.statements(codes, said["statements"])
    run.functions(said["functions"])
    for kind in kinds.values():
        kind.run(run, said["groups"])
    channel.report("", "done")
    _exit(0)


main()
