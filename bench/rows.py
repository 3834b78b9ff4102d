"""What is measured: one row each, with everybody who can take part in it.

Some rows run a program that is ready in its workspace: the price of the sandbox alone. The others
go the whole road, from source text to output. Where a compiler is on it, each time with a source
that nobody has seen before, so that no cache of finished programs can answer; the row that asks
for the same again says so.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import bare, grading, judge, tasks
from bench.hand import Hand, cores
from bench.lab import Contenders, Lab, argv_of, check_outcome
from bench.measure import Once
from bench.results import APART, COLD, LINUX, PROCESS, WARM
from bench.sandboxes import Commands, Inside, Missing, Sandbox
from bench.tasks import Task
from coderunner.model import File, Mount, Program
from coderunner.runner import Runner
from coderunner.settings import PRELOAD
from coderunner.toolchain import Toolchain

# What a user has: Go and rustc look for their caches and settings in it.
_USER_ENVIRONMENT = ("PATH", "HOME", "GOCACHE", "GOPATH", "RUSTUP_HOME", "CARGO_HOME")
_BURST = 50
_AT_ONCE = (1, 2, 4, 8)

Prepare = Callable[[Lab], Awaitable[Contenders]]


@dataclass(frozen=True)
class Row:
    name: str  # for --rows
    title: str
    rounds: int  # or slices, of a row with `parallel`
    quick_rounds: int
    prepare: Prepare  # raises Missing if nobody can take part
    parallel: int = 0  # so many at once, for as long as a slice lasts; 0: one after the other


def _road(task: Task) -> Prepare:
    async def prepare(lab: Lab) -> Contenders:
        toolchain = await lab.toolchain(task.language)
        hands = _hands(lab, task, toolchain)
        return {
            **{n: h if isinstance(h, Missing) else h.once(task.prints) for n, h in hands.items()},
            **await _through_us(lab, task),
        }

    return prepare


async def _through_us(lab: Lab, task: Task) -> dict[str, Once]:
    ours = await _our_runners(lab, task)
    return {name: _through(runner, lab, task) for name, runner in ours.items()}


async def _our_runners(lab: Lab, task: Task) -> dict[str, Runner]:
    """All ready to go. Where interpreters can be warm, both ways."""
    language = lab.languages.get(task.language)
    if not language.warm:
        await lab.make_ready(language.name, PROCESS, LINUX)
        return {name: lab.runner(name) for name in (PROCESS, LINUX)}
    await lab.runner(LINUX).warm_up(language.name)
    return {PROCESS: lab.runner(PROCESS), COLD: lab.runner(COLD), WARM: lab.runner(LINUX)}


def _through(runner: Runner, lab: Lab, task: Task) -> Once:
    async def once() -> bool:
        result = await runner.run(_program(lab, task))
        if task.fresh and getattr(result.compilation, "cached", False):
            raise bare.RunFailed("a program that nobody has seen came from a cache")
        return check_outcome(result.outcome, task.prints)

    return once


def _program(lab: Lab, task: Task) -> Program:
    language = lab.languages.get(task.language)
    return Program(language.name, (File(language.source, task.source(language.hello).encode()),))


def _hands(lab: Lab, task: Task, toolchain: Toolchain) -> Mapping[str, Hand | Missing]:
    """Everybody else who can do this task."""
    can = lab.compiling_sandboxes() if task.compiled else lab.running_sandboxes()
    return {
        name: sandbox if isinstance(sandbox, Missing) else _hand(lab, task, toolchain, sandbox)
        for name, sandbox in can.items()
    }


def _hand(lab: Lab, task: Task, toolchain: Toolchain, sandbox: Sandbox) -> Hand:
    language = lab.languages.get(task.language)
    folder = lab.folder({language.source: task.source(language.hello)})

    def refresh() -> None:
        if task.fresh:
            (folder / language.source).write_text(task.source(language.hello), encoding="utf-8")

    values = {**toolchain.tools, **language.scripts}
    return Hand(_steps(task, toolchain.mounts, values, folder, sandbox), refresh)


def _steps(
    task: Task,
    mounts: Sequence[Mount],
    values: Mapping[str, str],
    folder: Path,
    sandbox: Sandbox,
) -> list[Commands]:
    env = _environment(task)
    writable = [str(folder)] if task.compiled else []
    if task.cache:
        writable.append(bare.run(argv_of(task.cache, values), env).decode().strip())
        Path(writable[-1]).mkdir(parents=True, exist_ok=True)
    return [
        sandbox(Inside(argv_of(command, values), folder, env, mounts, writable))
        for command in task.commands
    ]


def _environment(task: Task) -> Mapping[str, str]:
    if not task.compiled:
        return bare.ENVIRONMENT
    return {name: os.environ[name] for name in _USER_ENVIRONMENT if name in os.environ}


async def _c_ready(lab: Lab) -> Contenders:
    """A program that is compiled already: what a run in a prepared workspace costs."""
    task, toolchain = tasks.C, await lab.toolchain("c")
    entered: dict[str, Once | Missing] = {}
    folder = lab.folder({"main.c": task.text})
    compiling = Inside(argv_of(task.commands[0], toolchain.tools), folder, bare.ENVIRONMENT)
    bare.run(compiling.words(str(folder)))
    (folder / "main.c").unlink()
    run = Inside(task.commands[1], folder, bare.ENVIRONMENT, toolchain.mounts)
    for name, sandbox in lab.running_sandboxes().items():
        if isinstance(sandbox, Missing):
            entered[name] = sandbox
        else:
            entered[name] = Hand([sandbox(run)], lambda: None).once(task.prints)
    for name in (PROCESS, LINUX):
        entered[name] = await _built(lab, lab.runner(name), task)
    return entered


async def _built(lab: Lab, runner: Runner, task: Task) -> Once:
    build = await lab.enter(runner.build(_program(lab, task)))
    assert build.ok, build.compilation

    async def once() -> bool:
        return check_outcome((await build.run()).outcome, task.prints)

    return once


async def _c_burst(lab: Lab) -> Contenders:
    """One after the other without a pause: nothing can be made ready in time, so what a sandbox
    prepares in the background is paid for here."""

    def in_a_row(once: Once) -> Once:
        async def all_of_them() -> bool:
            return any([await once() for _ in range(_BURST)])

        return all_of_them

    entered = await _c_ready(lab)
    return {n: o if isinstance(o, Missing) else in_a_row(o) for n, o in entered.items()}


async def _numpy(lab: Lab) -> Contenders:
    """With an interpreter that has it, which need not be the usual one."""
    task, chosen = tasks.NUMPY, {"python": await lab.numpy_python()}
    hands = _hands(lab, task, await lab.toolchain("python", chosen))
    cold = lab.new_runner(engine=LINUX, toolchains=chosen, warm=False)
    warm = lab.new_runner(engine=LINUX, toolchains=chosen, preload=[*PRELOAD, "numpy"])
    await warm.warm_up("python")
    return {
        **{n: h if isinstance(h, Missing) else h.once(task.prints) for n, h in hands.items()},
        COLD: _through(cold, lab, task),
        WARM: _through(warm, lab, task),
    }


async def _sustained(lab: Lab) -> Contenders:
    task = tasks.PYTHON
    hands = _hands(lab, task, await lab.toolchain("python"))
    return {
        **{
            name: hand if isinstance(hand, Missing) else hand.in_threads(lab.threads, task.prints)
            for name, hand in hands.items()
        },
        **await _through_us(lab, task),
    }


async def _grading(lab: Lab) -> Contenders:
    task = tasks.GRADED
    hands = _hands(lab, task, await lab.toolchain(task.language))
    ours = await _our_runners(lab, task)
    return {
        **{n: h if isinstance(h, Missing) else h.once(task.prints) for n, h in hands.items()},
        **{name: grading.together(runner) for name, runner in ours.items()},
        APART: grading.apart(ours[WARM]),
    }


def _judge(task: Task, at_once: int | None = None) -> Prepare:
    """As many at once as there are cores, or so many."""
    many = at_once or cores()

    async def prepare(lab: Lab) -> Contenders:
        hands = _hands(lab, task, await lab.toolchain(task.language))
        ours = await _our_runners(lab, task)
        return {
            **{
                n: h if isinstance(h, Missing) else judge.by_hand(h, many) for n, h in hands.items()
            },
            **{n: judge.through(r, lambda: _program(lab, task), many) for n, r in ours.items()},
        }

    return prepare


ROWS = (
    Row("c", "C program that exits at once", 300, 30, _c_ready),
    Row("burst", f"{_BURST} such C programs in a row", 15, 1, _c_burst),
    Row("python", "Python hello", 200, 25, _road(tasks.PYTHON)),
    Row("numpy", "Python with numpy", 30, 4, _numpy),
    Row("cpp", "C++ hello, compile and run", 8, 1, _road(tasks.CPP)),
    Row("bits", "C++ <bits/stdc++.h>, compile and run", 8, 1, _road(tasks.CONTEST)),
    Row("again", "the same C++ program again", 8, 2, _road(tasks.AGAIN)),
    Row("java", "Java hello, compile and run", 8, 1, _road(tasks.JAVA)),
    Row("go", "Go hello, compile and run", 8, 1, _road(tasks.GO)),
    Row("rust", "Rust hello, compile and run", 8, 1, _road(tasks.RUST)),
    Row("node", "JavaScript hello (Node)", 25, 4, _road(tasks.NODE)),
    Row("typescript", "TypeScript hello", 8, 1, _road(tasks.TYPESCRIPT)),
    Row("ruby", "Ruby hello", 25, 4, _road(tasks.RUBY)),
    Row("grading", "Python problem with three asserts", 100, 10, _grading),
    Row("judge", f"Python against {judge.TESTS} tests", 5, 1, _judge(tasks.JUDGE_PYTHON)),
    Row("judge-cpp", f"C++ against {judge.TESTS} tests", 5, 1, _judge(tasks.JUDGE_CPP)),
    Row(
        "judge-in-turn",
        f"C++ against {judge.TESTS} tests, one by one",
        5,
        1,
        _judge(tasks.JUDGE_CPP, 1),
    ),
    *(Row(f"at-{n}", f"Python hello, {n} at once", 4, 1, _sustained, parallel=n) for n in _AT_ONCE),
)
