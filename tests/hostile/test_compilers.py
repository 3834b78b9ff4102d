"""Compilers read what strangers wrote: the same walls around them, and limits of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coderunner.language import Languages
from coderunner.model import EndedBy, File, Limits, Program
from coderunner.runner import COMPILE_LIMITS
from tests.hostile.arena import Arena
from tests.hostile.conftest import ON_LINUX, in_languages
from tests.support import require_toolchain

pytestmark = pytest.mark.hostile

COMPILED = [language.name for language in Languages() if language.compile]
SECRET = "the-secret-of-the-host"
LONG_C = "\n".join(f"int f{i}(int x) {{ return x * {i}; }}" for i in range(5000)) + (
    "\nint main(void) { return 0; }\n"
)


in_each_language = in_languages(COMPILED)


def hello(language: str) -> Program:
    require_toolchain(language)
    known = Languages().get(language)
    return Program(language, (File(known.source, known.hello.encode()),))


def source(language: str, text: str) -> Program:
    require_toolchain(language)
    return Program(language, (File(Languages().get(language).source, text.encode()),))


@in_each_language
async def test_it_is_in_a_box(arena: Arena, language: str) -> None:
    result = await arena.run(hello(language))
    assert result.ok, result.stderr
    assert result.compilation is not None
    assert result.compilation.isolation is arena.level


@in_each_language
@pytest.mark.parametrize("limit", ["wall_ms", "cpu_ms"])
async def test_its_time_is_limited(arena: Arena, language: str, limit: str) -> None:
    limits = COMPILE_LIMITS.but(Languages().get(language).compile_limits).but({limit: 10})
    result = await arena.run(hello(language), compile_limits=limits)
    assert result.execution is None
    assert (
        result.outcome.ended_by
        is {
            "wall_ms": EndedBy.WALL_TIME,
            "cpu_ms": EndedBy.CPU_TIME,
        }[limit]
    )


@in_each_language
async def test_its_processes_are_limited(arena: Arena, language: str) -> None:
    """Each of them starts threads, or other programs. Where they are counted by looking now and
    then, a compiler must be at work for longer than a few looks."""
    limits = COMPILE_LIMITS.but({"processes": 1})
    program = source("c", LONG_C) if language == "c" else hello(language)
    result = await arena.run(program, compile_limits=limits)
    assert result.execution is None
    assert result.outcome.ended_by is EndedBy.PROCESSES


# Ways to ask a compiler for the contents of a file.
READERS = {
    "include": ("c", '#include "{path}"\nint main(void) {{ return 0; }}'),
    "include macros": ("cpp", '#define P "{path}"\n#include P\nint main() {{}}'),
    "assembler include": ("c", '__asm__(".include \\"{path}\\"");\nint main(void) {{}}'),
    "assembler": (
        "c",
        '__asm__(".data; secret: .incbin \\"{path}\\"; .byte 0; .text");\n'
        "#include <stdio.h>\nextern char secret[]; int main(void) {{ puts(secret); }}",
    ),
    "dependency": ("c", '#pragma GCC dependency "{path}"\nint main(void) {{ return 0; }}'),
    "bytes": (
        "rust",
        'fn main() {{ println!("{{}}", String::from_utf8_lossy(include_bytes!("{path}"))); }}',
    ),
    "string": ("rust", 'const _: u8 = include_str!("{path}");\nfn main() {{}}'),
    "module": ("rust", '#[path = "{path}"] mod secret;\nfn main() {{}}'),
    "embed": (
        "go",
        'package main\nimport _ "embed"\n//go:embed {path}\nvar secret string\n'
        "func main() {{ println(secret) }}",
    ),
    "embed from above": (
        "go",
        'package main\nimport _ "embed"\n//go:embed ../../../..{path}\nvar secret string\n'
        "func main() {{ println(secret) }}",
    ),
    "reference": ("typescript", '/// <reference path="{path}" />\nimport "{path}";\n'),
}


@in_languages({way: language for way, (language, _) in READERS.items()}, "way")
async def test_it_sees_no_file_of_the_host(arena: Arena, way: str, tmp_path: Path) -> None:
    """Readable by everybody, so that only the walls can be in the way."""
    tmp_path.chmod(0o755)
    file = tmp_path / "secret.h"
    file.write_text(f'"{SECRET}" {SECRET}\n')
    language, text = READERS[way]
    result = await arena.run(source(language, text.format(path=file)))
    assert not result.ok
    assert SECRET not in result.stdout + result.stderr


@ON_LINUX  # the image has no Rust, and C and C++ have no way to ask
async def test_it_has_not_our_environment(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTILE_SECRET", SECRET)  # before the engine is started
    text = 'fn main() { println!("{:?}", option_env!("HOSTILE_SECRET")); }'
    result = await arena.run(source("rust", text))
    assert (result.ok, result.stdout) == (True, "None\n"), result.stderr


@ON_LINUX  # the image has no Go
async def test_it_fetches_nothing(arena: Arena) -> None:
    """Go would get modules, and even a newer Go, from the network."""
    require_toolchain("go")
    files = (
        File("main.go", b'package main\nimport _ "example.com/module"\nfunc main() {}'),
        File("go.mod", b"module main\n\ngo 1.19\n\nrequire example.com/module v1.0.0\n"),
    )
    result = await arena.run(Program("go", files))
    assert result.compilation is not None
    assert (result.execution, result.compilation.ended_by) == (None, EndedBy.EXIT)


# Names that a command would take for an option, a list of options, or a pattern.
ODD_NAMES = ["-v", "--help", "@list", "-fplugin=evil", "-include", "*", "$(id)", "a b", "-"]
# For each language: what goes into the main file, and into those with the odd names.
SOURCES = {
    "c": ("int main(void) { return 42; }", "int odd%d(void) { return 1; }"),
    "cpp": ("int main() { return 42; }", "int odd%d() { return 1; }"),
    "java": (
        "class Main { public static void main(String[] args) { System.exit(42); } }",
        "class Odd%d {}",
    ),
    "typescript": ("process.exit(42);", "export const odd%d: number = 1;"),
}


@in_languages(SOURCES)
async def test_names_are_names(arena: Arena, language: str) -> None:
    """A source file is taken for a source file, whatever it is called."""
    require_toolchain(language)
    main, odd = SOURCES[language]
    suffix = Languages().get(language).extensions[0]
    files = [File(f"Main{suffix}", main.encode())]
    for number, name in enumerate(ODD_NAMES):
        files.append(File(name + suffix, (odd % number).encode()))
    result = await arena.run(Program(language, tuple(files)))
    assert result.outcome.exit_code == 42, result.stderr


# What a parser needs a deep stack for.
DEEP: dict[str, Callable[[int], str]] = {
    "c": lambda depth: f"int main(void) {{ return {'(' * depth}0{')' * depth}; }}",
    "cpp": lambda depth: f"int main() {{ return {'(' * depth}0{')' * depth}; }}",
    "go": lambda depth: f"package main\nfunc main() {{ _ = {'(' * depth}0{')' * depth} }}",
    "java": lambda depth: (
        f"class Main {{ int x = {'(' * depth}0{')' * depth}; "
        "public static void main(String[] args) {} }"
    ),
    "rust": lambda depth: f"fn main() {{ let _ = {'(' * depth}0{')' * depth}; }}",
    "typescript": lambda depth: f"const x = {'[' * depth}{']' * depth};",
}


@in_each_language
async def test_deep_nesting(arena: Arena, language: str) -> None:
    """It compiles, or it does not; but a crash of the compiler is no more than that."""
    limits = COMPILE_LIMITS.but({"memory_mb": 512, "wall_ms": 3000, "processes": 256})
    result = await arena.run(source(language, DEEP[language](100_000)), compile_limits=limits)
    assert result.compilation is not None
    assert result.compilation.isolation is arena.level


ERRORS = {
    "c": "int x = y;\n",
    "cpp": "int x = y;\n",
    "go": "var x int = y\n",
    "java": "class X { int x = y; }\n",
    "rust": "fn x() { y }\n",
    "typescript": "let = =;\n",
}


@in_each_language
async def test_floods_of_errors(arena: Arena, language: str) -> None:
    """What is kept is bounded, whatever the compiler has to say."""
    limits = Limits(
        memory_mb=1024, wall_ms=10_000, processes=256, disk_mb=512, output_bytes=5000,
        flood_bytes=2_000_000,
    )  # fmt: skip
    text = ("package main\n" if language == "go" else "") + ERRORS[language] * 20_000
    result = await arena.run(source(language, text), compile_limits=limits)
    assert result.execution is None
    assert len(result.outcome.stdout.data) + len(result.outcome.stderr.data) > 0
    for output in (result.outcome.stdout, result.outcome.stderr):
        assert len(output.data) <= limits.output_bytes


PROCESSOR = b"""
import java.util.Set;
import javax.annotation.processing.*;
import javax.lang.model.element.TypeElement;

@SupportedAnnotationTypes("*")
public class Main extends AbstractProcessor {
    static { System.err.println("ran in the compiler"); }
    public static void main(String[] args) {}
    public boolean process(Set<? extends TypeElement> types, RoundEnvironment round) {
        return false;
    }
}
"""


@ON_LINUX  # the image has no Java
async def test_javac_runs_no_processor(arena: Arena) -> None:
    """A compiled class and a word in META-INF would be enough to run code in the compiler."""
    require_toolchain("java")
    made = await arena.run(Program("java", (File("Main.java", PROCESSOR),)), collect=["build/**"])
    [compiled] = made.files
    files = (
        File("Hello.java", b"class Hello { public static void main(String[] args) {} }"),
        File("Main.class", compiled.content),
        File("META-INF/services/javax.annotation.processing.Processor", b"Main\n"),
    )
    result = await arena.run(Program("java", files))
    assert result.ok, result.stderr
    assert result.compilation is not None
    assert "ran in the compiler" not in result.compilation.stderr.text
