"""What makes compilers fast: that it is really used, and that nothing else changes by it."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from coderunner import File, Outcome, Program, Runner, Settings
from coderunner.execution import execute
from coderunner.model import Job
from coderunner.runner import COMPILE_LIMITS
from coderunner.workspace import Workspace, copy_in
from tests.support import leave_out, require_sandbox, require_toolchain

pytestmark = [pytest.mark.engines, pytest.mark.languages]

HELLO = "#include <iostream>\nint main() { std::cout << 42; }"
CONTEST = """#include <bits/stdc++.h>
using namespace std;
int main() { map<string, vector<int>> m; m["a"] = {3, 1, 2}; sort(m["a"].begin(), m["a"].end());
  cout << m["a"][0] << __LINE__ << __FILE__; }"""
CPP = {
    "iostream": HELLO,
    "bits": CONTEST,
    "C++20": CONTEST.replace("map<", "std::span<int> nothing; map<"),
    "a macro that the header looks at": "#define _GLIBCXX_DEBUG\n" + HELLO,
    "a macro that it does not": "#define MINE 1\n" + HELLO,
    "a keyword redefined": "#define private public\n" + HELLO,
    "no asserts": "#define NDEBUG\n#include <bits/stdc++.h>\nint main() { assert(0); }",
    "a pragma first": '#pragma GCC optimize("O3,unroll-loops")\n' + HELLO,
    "code first": "int one = 1;\n" + HELLO,
    "another header first": "#include <vector>\n" + HELLO,
    "a warning": CONTEST.replace("cout <<", "auto_ptr<int> old; cout <<"),
    "an error": CONTEST.replace("int main", "struct S {}; int main").replace(
        "cout <<", "cout << S{} <<"
    ),
    "a misspelling": HELLO.replace("cout", "cuot"),
}
JAVA = {
    "hello": "class A { public static void main(String[] a) { System.out.print(6 * 7); } }",
    "records": "import java.util.*; record P(int x) {}"
    "class A { public static void main(String[] a) { List<P> l = new ArrayList<>(); "
    "l.add(new P(1)); l.forEach(p -> System.out.print(p)); } }",
    "an error": "class A { int x = nothing; }",
    "a warning": "import java.util.*; class A { List l = new ArrayList(); { l.add(1); } }",
}
TYPESCRIPT = {
    "hello": "const x: number = 42; console.log(x);",
    "a bit of everything": "enum E { A = 'ä€😀' } class C<T> { constructor(private x: T) {} }\n"
    "interface I { y?: number } export default new C<I>({});\nconsole.log(`${E.A}`, /[ä-ü]/u);",
    "await": "const x = await Promise.resolve(1); console.log(x);",
    "an error": "const x: = 1;",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once for all tests here, since it takes some seconds."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
async def prepared(cache: Path) -> AsyncIterator[Runner]:
    require_sandbox()
    async with Runner.open(Settings(cache_dir=cache)) as runner:
        yield runner


@pytest.fixture
async def plain(tmp_path: Path) -> AsyncIterator[Runner]:
    """A runner without any preparations that are optional: it is used too rarely."""
    require_sandbox()
    async with Runner.open(Settings(cache_dir=tmp_path)) as runner:
        yield runner


def program(language: str, name: str, text: str) -> Program:
    return Program(language, (File(name, text.encode()),))


async def compiled(runner: Runner, source: Program) -> tuple[Outcome, dict[str, bytes]]:
    """How a compilation went, and all the files there are after it."""
    async with runner.build(source) as build:
        with Workspace() as workspace:
            copy_in(build.bundle, workspace.path)
            files = files_in(workspace.path)
        assert build.compilation is not None
        return build.compilation, files


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


async def compile_as(
    runner: Runner, source: Program, change: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> tuple[Outcome, Job]:
    """Compile with a changed command, to see what a compiler does inside."""
    async with runner.build(source) as build:
        job = build.recipe.compile_job(COMPILE_LIMITS, build.bundle)
        job = replace(job, argv=change(job.argv))
        return await execute(runner.engine, job), job


def kept(cache: Path, language: str) -> Path:
    (place,) = cache.glob(f"prepared/{language}-*")
    return place


def without_include_chain(said: str) -> str:
    """g++ does not say from which line of a program a precompiled header was included."""
    chain = re.compile(r"^(In file included from .*|  +from .*)\n", re.MULTILINE)
    return chain.sub("", said)


async def require_gxx(runner: Runner) -> None:
    require_toolchain("cpp")
    toolchain = await runner.toolchains.find(runner.languages.get("cpp"))
    if "g++" not in toolchain.tools["cxx"]:
        leave_out("C++ is not compiled by g++ here", fix="apt-get install g++")


@pytest.mark.parametrize(
    ("name", "header"),
    [("iostream", "iostream.gch/gnu++17"), ("bits", "bits/stdc++.h.gch/gnu++17"),
     ("C++20", "bits/stdc++.h.gch/gnu++20"),
     ("a macro that it does not", "iostream.gch/gnu++17"),
     ("a macro that the header looks at", None), ("no asserts", None), ("a pragma first", None),
     ("code first", None), ("another header first", None)],
)  # fmt: skip
async def test_gxx_takes_a_precompiled_header(
    prepared: Runner, name: str, header: str | None
) -> None:
    await require_gxx(prepared)
    await prepared.prepare("cpp")
    source = program("cpp", "main.cpp", CPP[name])
    outcome, _ = await compile_as(prepared, source, lambda argv: (*argv, "-H"))
    taken = re.findall(r"^! /prepared/headers/(.*)$", outcome.stderr.text, re.MULTILINE)
    assert taken == ([header] if header else [])


@pytest.mark.parametrize("name", CPP)
async def test_cpp_is_the_same_without(prepared: Runner, plain: Runner, name: str) -> None:
    await require_gxx(prepared)
    await prepared.prepare("cpp")
    source = program("cpp", "main.cpp", CPP[name])
    fast, made = await compiled(prepared, source)
    slow, expected = await compiled(plain, source)
    assert made == expected
    assert fast.exit_code == slow.exit_code
    said = without_include_chain(fast.stderr.text)
    assert said == without_include_chain(slow.stderr.text)
    assert bool(said) == (name in ("a warning", "an error", "a misspelling"))


async def test_a_header_of_ones_own_goes_first(prepared: Runner) -> None:
    await require_gxx(prepared)
    await prepared.prepare("cpp")
    mine = File("iostream", b"#include <cstdio>\n#define print puts")
    source = program("cpp", "main.cpp", '#include <iostream>\nint main() { print("mine"); }')
    result = await prepared.run(replace(source, files=(*source.files, mine)))
    assert (result.stderr, result.stdout) == ("", "mine\n")


def loaded_classes(argv: tuple[str, ...]) -> tuple[str, ...]:
    return (argv[0], *(a for a in argv[1:] if a != "-J-Xlog:disable"), "-J-Xlog:class+load:stderr")


async def test_javac_takes_its_classes_from_the_archive(prepared: Runner) -> None:
    require_toolchain("java")
    await prepared.prepare("java")
    source = program("java", "A.java", JAVA["hello"])
    outcome, _ = await compile_as(prepared, source, loaded_classes)
    said = outcome.stderr.text + outcome.stdout.text
    main = re.findall(r"com\.sun\.tools\.javac\.main\.Main source: (.*)", said)
    assert main == ["shared objects file"]


@pytest.mark.parametrize("name", JAVA)
async def test_java_is_the_same_without(prepared: Runner, plain: Runner, name: str) -> None:
    require_toolchain("java")
    await prepared.prepare("java")
    source = program("java", "A.java", JAVA[name])
    (fast, made), (slow, expected) = (
        await compiled(prepared, source),
        await compiled(plain, source),
    )
    assert made == expected
    assert (fast.exit_code, fast.stdout, fast.stderr) == (slow.exit_code, slow.stdout, slow.stderr)


@pytest.mark.parametrize("damage", [b"", b"no archive" * 1000])
async def test_a_damaged_archive_is_not_talked_about(
    prepared: Runner, cache: Path, damage: bytes
) -> None:
    require_toolchain("java")
    await prepared.prepare("java")
    archive = kept(cache, "java") / "javac.jsa"
    whole = archive.read_bytes()
    archive.write_bytes(damage or whole[:-100_000])
    try:
        result = await prepared.run(program("java", "A.java", JAVA["hello"]))
    finally:
        archive.write_bytes(whole)
    assert result.compilation is not None
    assert (result.compilation.stdout.text, result.compilation.stderr.text) == ("", "")
    assert result.stdout == "42"


async def test_v8_takes_the_bytecode(prepared: Runner) -> None:
    require_toolchain("typescript")
    await prepared.prepare("typescript")
    look = """
    const fs = require("fs"), kept = process.env.KEPT_COMPILER;
    const source = fs.readFileSync(kept + "/compiler.js", "latin1");
    const cachedData = fs.readFileSync(kept + "/bytecode");
    console.log(new (require("vm").Script)(source, { cachedData }).cachedDataRejected);
    """
    source = program("typescript", "main.ts", TYPESCRIPT["hello"])
    outcome, job = await compile_as(prepared, source, lambda argv: (argv[0], argv[1], look))
    assert job.argv[1] == "-e"
    assert outcome.stdout.text == "false\n"


async def test_the_kept_compiler_is_the_installed_one_in_ascii(
    prepared: Runner, cache: Path
) -> None:
    require_toolchain("typescript")
    await prepared.prepare("typescript")
    toolchain = await prepared.toolchains.find(prepared.languages.get("typescript"))
    installed = Path(toolchain.tools["tsc"]).parent.parent / "lib" / "typescript.js"
    units = memoryview(installed.read_text().encode("utf-16-le")).cast("H")
    ascii_ = "".join(chr(unit) if unit < 128 else f"\\u{unit:04x}" for unit in units)
    text = (kept(cache, "typescript") / "compiler.js").read_text("ascii")
    wrapper, _, rest = text.partition(ascii_)
    assert (wrapper[:10], rest.strip()) == ("(function ", "});")


@pytest.mark.parametrize("name", TYPESCRIPT)
async def test_typescript_is_the_same_without(prepared: Runner, plain: Runner, name: str) -> None:
    require_toolchain("typescript")
    await prepared.prepare("typescript")
    source = program("typescript", "main.ts", TYPESCRIPT[name])
    (fast, made), (slow, expected) = (
        await compiled(prepared, source),
        await compiled(plain, source),
    )
    assert made == expected
    assert (fast.exit_code, fast.stdout, fast.stderr) == (slow.exit_code, slow.stdout, slow.stderr)


async def test_bytecode_that_v8_does_not_take_changes_nothing(
    prepared: Runner, cache: Path
) -> None:
    require_toolchain("typescript")
    await prepared.prepare("typescript")
    bytecode = kept(cache, "typescript") / "bytecode"
    whole = bytecode.read_bytes()
    bytecode.write_bytes(whole[:1000])
    try:
        result = await prepared.run(program("typescript", "main.ts", TYPESCRIPT["hello"]))
    finally:
        bytecode.write_bytes(whole)
    assert (result.stderr, result.stdout) == ("", "42\n")


GO = 'package main\nimport "fmt"\nfunc main() { fmt.Print(42) }'


def build_verbosely(argv: tuple[str, ...]) -> tuple[str, ...]:
    return (*argv[:2], "-v", *(word.replace("program", "another") for word in argv[2:]))


async def test_go_compiles_nothing_but_the_program(prepared: Runner) -> None:
    require_toolchain("go")
    source = program("go", "main.go", GO)
    outcome, _ = await compile_as(prepared, source, build_verbosely)
    assert (outcome.stderr.text, outcome.ok) == ("command-line-arguments\n", True)


async def test_go_finds_nothing_to_mark_as_used(prepared: Runner, cache: Path) -> None:
    require_toolchain("go")
    await prepared.prepare("go")
    files = [path for path in kept(cache, "go").rglob("*") if path.is_file()]
    assert len(files) > 100
    assert min(path.stat().st_mtime for path in files) > time.time() + 10 * 365 * 24 * 3600


async def test_go_packages_in_directories_without_a_module(prepared: Runner) -> None:
    require_toolchain("go")
    main = 'package main\nimport ("fmt"; "./twice")\nfunc main() { fmt.Print(twice.Of(21)) }'
    twice = File("twice/twice.go", b"package twice\nfunc Of(x int) int { return 2 * x }")
    source = program("go", "main.go", main)
    result = await prepared.run(replace(source, files=(*source.files, twice)))
    assert (result.stderr, result.stdout) == ("", "42")


async def test_a_program_never_sees_what_is_kept(cache: Path) -> None:
    require_toolchain("c")
    settings = Settings(cache_dir=cache, compile_cache_mb=10)
    look = '#include <stdio.h>\nint main() { printf("%%s", fopen("%s", "r") ? "seen" : "hidden"); }'
    source = program("c", "main.c", look % (cache / "compiled"))
    async with Runner.open(settings) as runner:
        results = [await runner.run(source) for _ in range(2)]
    assert (cache / "compiled").is_dir()
    assert [result.stdout for result in results] == ["hidden", "hidden"]
    assert [result.compilation and result.compilation.cached for result in results] == [False, True]
