"""What is measured: one row each, with everybody who can take part in it.

The first rows run a program that is ready in its workspace: the price of the sandbox alone. The
rows after them go the whole road, from source text to output, each time with a source that nobody
has seen before, so that no cache of finished programs can answer. The row that asks the same again
says so.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bench import bare
from bench.lab import BARE, ENGINES, Contenders, Lab, Missing, check_outcome, check_printed
from bench.measure import Once
from coderunner.language import Language
from coderunner.model import File, Job, Program
from coderunner.placeholders import expand
from coderunner.runner import Runner

# What a user has: Go and rustc look for their caches and settings in it.
_USER_ENVIRONMENT = ("PATH", "HOME", "GOCACHE", "GOPATH", "RUSTUP_HOME", "CARGO_HOME")


_BURST = 50
_CONTEST = """
#include <bits/stdc++.h>
using namespace std;

int main() {
    map<string, vector<int>> seen;
    for (int n : {3, 1, 2}) seen["numbers"].push_back(n);
    auto& numbers = seen["numbers"];
    sort(numbers.begin(), numbers.end());
    if (numbers[0] == 1) cout << "Hello from C++" << endl;
}
"""


@dataclass(frozen=True)
class Row:
    name: str  # for --rows
    title: str
    rounds: int
    quick_rounds: int
    prepare: Callable[[Lab], Awaitable[Contenders]]  # raises Missing if nobody can take part


async def _c_exit(lab: Lab) -> Contenders:
    compiler = (await lab.toolchain("c")).tools["cc"]
    folder = lab.folder({"main.c": "int main(void) { return 0; }\n"})
    program = folder / "program"
    bare.run([compiler, "-O2", "-o", str(program), str(folder / "main.c")])
    (folder / "main.c").unlink()
    job = Job(argv=("./program",), workspace=folder, env=bare.ENVIRONMENT)
    return lab.contenders(job, [str(program)], b"")


async def _c_burst(lab: Lab) -> Contenders:
    """One after the other without a pause: nothing can be made ready in time, so what a sandbox
    prepares in the background is paid for here."""

    def in_a_row(once: Once) -> Once:
        async def all_of_them() -> None:
            for _ in range(_BURST):
                await once()

        return all_of_them

    entered = await _c_exit(lab)
    return {n: o if isinstance(o, Missing) else in_a_row(o) for n, o in entered.items()}


async def _python_hello(lab: Lab) -> Contenders:
    toolchain = await lab.toolchain("python")
    python = toolchain.tools["python"]
    folder = lab.folder({"main.py": "print('hello')\n"})
    job = Job(
        argv=(python, "main.py"), workspace=folder, env=bare.ENVIRONMENT, mounts=toolchain.mounts
    )
    return lab.contenders(job, [python, str(folder / "main.py")], b"hello\n")


def _road(
    name: str, *commands: Sequence[str], text: str = "", again: bool = False
) -> Callable[[Lab], Awaitable[Contenders]]:
    """Compile and run a language's hello program, or another that prints the same. `commands` are
    what one would type without us, with the same tools and the flags that matter; `{folder}` is
    where the source lies. With `again` we are asked for the same program each time."""

    async def prepare(lab: Lab) -> Contenders:
        language = replace(lab.languages.get(name), hello=text or lab.languages.get(name).hello)
        values = {**language.scripts, **(await lab.toolchain(name)).tools}
        engines: dict[str, Once] = {}
        for engine in ENGINES:
            await lab.runner(engine).prepare(name)
            engines[engine] = _through(lab.runner(engine), language, again=again)
        return {BARE: _by_hand(lab, language, values, commands), **engines}

    return prepare


def _through(runner: Runner, language: Language, *, again: bool) -> Once:
    async def once() -> None:
        text = language.hello if again else _source(language)
        program = Program(language.name, (File(language.source, text.encode()),))
        result = await runner.run(program)
        check_outcome(result.outcome, _greeting(language))

    return once


def _by_hand(
    lab: Lab, language: Language, values: Mapping[str, str], commands: Sequence[Sequence[str]]
) -> Once:
    env = {name: os.environ[name] for name in _USER_ENVIRONMENT if name in os.environ}

    async def once() -> None:
        folder = lab.folder({language.source: _source(language)})
        try:
            here = {**values, "folder": str(folder)}
            printed = [bare.run(expand(command, here), env) for command in commands]
        finally:
            shutil.rmtree(folder)
        check_printed(printed[-1], _greeting(language))

    return once


def _source(language: Language) -> str:
    """A hello program like no other."""
    return f"{language.hello}\n// {uuid.uuid4()}\n"


def _greeting(language: Language) -> bytes:
    return f"Hello from {language.title}\n".encode()


_RUN = ("{folder}/program",)
_GXX = ("{cxx}", "-O2", "-std=c++17", "-o", "{folder}/program", "{folder}/main.cpp")
ROWS = (
    Row("c", "C program that exits at once", 300, 40, _c_exit),
    Row("burst", f"{_BURST} such C programs in a row", 20, 3, _c_burst),
    Row("python", "Python hello", 100, 15, _python_hello),
    Row(
        "cpp",
        "C++ hello, compile and run",
        10,
        2,
        _road("cpp", _GXX, _RUN),
    ),
    Row(
        "bits",
        "C++ with <bits/stdc++.h>, compile and run",
        10,
        2,
        _road("cpp", _GXX, _RUN, text=_CONTEST),
    ),
    Row(
        "again",
        "the same C++ program again",
        10,
        2,
        _road("cpp", _GXX, _RUN, text=_CONTEST, again=True),
    ),
    Row(
        "java",
        "Java hello, compile and run",
        10,
        2,
        _road(
            "java",
            ("{javac}", "-d", "{folder}", "{folder}/Main.java"),
            ("{java}", "-cp", "{folder}", "Main"),
        ),
    ),
    Row(
        "go",
        "Go hello, compile and run",
        10,
        2,
        _road(
            "go",
            ("{go}", "build", "-ldflags=-s -w", "-o", "{folder}/program", "{folder}/main.go"),
            _RUN,
        ),
    ),
    Row(
        "rust",
        "Rust hello, compile and run",
        10,
        2,
        _road(
            "rust",
            ("{rustc}", "--edition=2021", "-O", "-o", "{folder}/program", "{folder}/main.rs"),
            _RUN,
        ),
    ),
    Row("node", "JavaScript hello", 10, 2, _road("javascript", ("{node}", "{folder}/main.js"))),
    Row(
        "typescript",
        "TypeScript hello, compile and run",
        10,
        2,
        _road(
            "typescript",
            ("{node}", "-e", "{transpile}", "{tsc}", "{folder}/main.ts"),
            ("{node}", "{folder}/main.js"),
        ),
    ),
)
