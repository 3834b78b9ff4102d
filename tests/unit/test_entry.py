"""Names and starting points that follow from what is written in a source."""

from __future__ import annotations

import functools
import time

import pytest

from coderunner.entry import Layout, lay_out
from coderunner.errors import InvalidProgram
from coderunner.language import Languages
from coderunner.model import File

LANGUAGES = Languages()

MAIN = "public static void main(String[] args) {}"


builtin = functools.cache(Languages)


def layout(language: str, *files: tuple[str, str | bytes]) -> Layout:
    made = [File(name, text if isinstance(text, bytes) else text.encode()) for name, text in files]
    return lay_out(builtin().get(language), made)


JAVA: dict[str, tuple[str, str, str]] = {
    # what it shows: (source, the file's name, the class to start)
    "public class": (f"public class Hello {{ {MAIN} }}", "Hello.java", "Hello"),
    "no public class": (f"class Hello {{ {MAIN} }}", "Main.java", "Hello"),
    "package": (f"package a.b; public class X {{ {MAIN} }}", "X.java", "a.b.X"),
    "spaced package": (f"package a . /* x */ b ; class X {{ {MAIN} }}", "Main.java", "a.b.X"),
    "annotated package": (f"@Foo package a; class X {{ {MAIN} }}", "Main.java", "a.X"),
    "line comment": (f"// public class No {{\nclass X {{ {MAIN} }}", "Main.java", "X"),
    "block comment": (f"/* public class No {{ */ class X {{ {MAIN} }}", "Main.java", "X"),
    "string": (f'class X {{ String s = "public class No {{"; {MAIN} }}', "Main.java", "X"),
    "escaped quote": (
        f'class X {{ String s = "\\"}} public class No {{"; {MAIN} }}',
        "Main.java",
        "X",
    ),
    "char": (f"class X {{ char c = '{{', d = '\"', e = '\\''; {MAIN} }}", "Main.java", "X"),
    "text block": (
        f'class X {{ String s = """\n"}} public class No {{ \\""" {MAIN}\n"""; {MAIN} }}',
        "Main.java",
        "X",
    ),
    "comment in string": (f'class X {{ String s = "/*"; {MAIN} }} // */', "Main.java", "X"),
    "nested public class": (f"class X {{ public static class In {{}} {MAIN} }}", "Main.java", "X"),
    "second class has main": (f"class A {{}} class B {{ {MAIN} }}", "Main.java", "B"),
    "public class without main": (f"public class A {{}} class B {{ {MAIN} }}", "A.java", "B"),
    "both have main": (f"class A {{ {MAIN} }} public class B {{ {MAIN} }}", "B.java", "B"),
    "record": (f"public record P(int x, int y) {{ {MAIN} }}", "P.java", "P"),
    "enum": (f"public enum E {{ A, B {{ int f() {{ return 1; }} }}; {MAIN} }}", "E.java", "E"),
    "interface": ("public interface I { static void main(String[] a) {} }", "I.java", "I"),
    "annotation type": (f"public @interface Tag {{}} class X {{ {MAIN} }}", "Tag.java", "X"),
    "generics": (f"public class G<T extends Comparable<T>> {{ {MAIN} }}", "G.java", "G"),
    "modifiers": (f"public abstract strictfp class M {{ {MAIN} }}", "M.java", "M"),
    "public last": (f"abstract public class M {{ {MAIN} }}", "M.java", "M"),
    "annotations": (
        f'@A({{"x", "y"}}) public @B(k = {{1, 2}}, c = String.class) final class N {{ {MAIN} }}',
        "N.java",
        "N",
    ),
    "public on another": (f"public class A {{}}\nclass B {{ {MAIN} }}", "A.java", "B"),
    "unicode": (f"public class Größe日本 {{ {MAIN} }}", "Größe日本.java", "Größe日本"),
    "dollar": (f"public class $A_1$ {{ {MAIN} }}", "$A_1$.java", "$A_1$"),
    "varargs main": ("class V { public static void main(final String... a) {} }", "Main.java", "V"),
    "main of another kind": (
        f"class A {{ static void main(int x) {{}} }} class B {{ {MAIN} }}",
        "Main.java",
        "B",
    ),
    "main in a nested class": (f"class A {{ static class B {{ {MAIN} }} }}", "Main.java", "A$B"),
    "main in a method's local class": (
        f"class A {{ void f() {{ class L {{ {MAIN} }} }} }} class B {{ {MAIN} }}",
        "Main.java",
        "B",
    ),
    "lambda fields": (
        f"class A {{ Runnable r = run(() -> {{ class Z {{}} }}); {MAIN} }}",
        "Main.java",
        "A",
    ),
    "class literal": (f"class A {{ Class<?> c = String.class ; {MAIN} }}", "Main.java", "A"),
    "no class around main": ("void main() { }", "Main.java", "Main"),
    "no main": ("class A {} public class B {}", "B.java", "B"),
    "nothing": ("", "Main.java", "Main"),
    "unfinished": ("public class Un {", "Un.java", "Un"),
    "unfinished comment": ("/* public class No {}", "Main.java", "Main"),
    "not utf-8": (f"// \udcff\npublic class X {{ {MAIN} }}", "X.java", "X"),
}


@pytest.mark.parametrize("case", JAVA)
def test_java(case: str) -> None:
    source, filename, class_name = JAVA[case]
    found = layout("java", ("Main.java", source.encode("utf-8", errors="surrogateescape")))
    assert (found.main, found.class_name) == (filename, class_name)
    assert [file.name for file in found.files] == [filename]


def test_several_files_keep_their_directories() -> None:
    found = layout(
        "java",
        ("src/main.java", f"package p; public class App {{ {MAIN} }}"),
        ("src/util/Util.java", "package p.util; public class Util {}"),
        ("src/util/x.java", "package p.util; public class Other {}"),
        ("data.txt", "public class NotASource {}"),
    )
    names = ["src/App.java", "src/util/Util.java", "src/util/Other.java", "data.txt"]
    assert [file.name for file in found.files] == names
    assert found.sources == tuple(names[:3])
    assert (found.main, found.class_name) == ("src/App.java", "p.App")


def test_the_main_method_may_be_in_another_file() -> None:
    found = layout(
        "java",
        ("A.java", "public class A {}"),
        ("B.java", f"package b; public class B {{ {MAIN} }}"),
    )
    assert (found.main, found.class_name) == ("A.java", "b.B")


def test_a_taken_name_is_left_to_the_compiler() -> None:
    found = layout("java", ("A.java", "public class B {}"), ("B.java", "public class B {}"))
    assert [file.name for file in found.files] == ["A.java", "B.java"]


def test_content_passes_through_unchanged() -> None:
    content = b"\xff\xfe public class X { \x00 }"
    assert layout("java", ("Main.java", content)).files[0].content == content


@pytest.mark.parametrize("name", ["-x.java", "--help.java", "@x.java"])
def test_the_class_to_start_is_never_an_option(name: str) -> None:
    assert layout("java", (name, "")).class_name == "Main"


def test_the_first_source_file_is_the_main_one() -> None:
    found = layout("c", ("util.h", ""), ("b.c", ""), ("a.c", ""))
    assert (found.main, found.sources) == ("b.c", ("b.c", "a.c"))


def test_without_a_source_file_the_first_file_is_the_main_one() -> None:
    found = layout("python", ("script", "print(1)"))
    assert (found.main, found.sources) == ("script", ("script",))


def test_no_files() -> None:
    with pytest.raises(InvalidProgram):
        layout("python")


def test_a_go_mod_makes_it_a_module() -> None:
    plain = layout("go", ("main.go", ""))
    module = layout("go", ("cmd/main.go", ""), ("go.mod", "module x"))
    assert "{siblings}" in plain.language.compile
    assert "{main_dir}" in module.language.compile
    assert module.language.env["GO111MODULE"] == "on"


MODULE = 'import fs from "fs";'
JAVASCRIPT: dict[str, tuple[str, bool]] = {
    "import": (MODULE, True),
    "bare import": ('import "fs";', True),
    "export": ("export const x = 1;", True),
    "dynamic import": ('import("fs")', False),
    "require": ('const fs = require("fs");', False),
    "comment": (f"/*\n{MODULE}\n*/", False),
    "template": (f"const s = `\n{MODULE}\n`;", False),
    "property": ("const exports = {};\nexports.x = 1;", False),
}


@pytest.mark.parametrize("case", JAVASCRIPT)
def test_a_script_with_imports_is_a_module(case: str) -> None:
    source, is_module = JAVASCRIPT[case]
    names = [file.name for file in layout("javascript", ("main.js", source)).files]
    assert ("package.json" in names) is is_module


def test_a_package_json_of_the_programs_own_is_respected() -> None:
    found = layout("javascript", ("main.js", MODULE), ("package.json", "{}"))
    assert [file.content for file in found.files if file.name == "package.json"] == [b"{}"]


@pytest.mark.parametrize(
    "piece",
    ["class a ", "class a{", "class a{}", "/*", '"', '"""', "'", "{", "(", "public ", "void ",
     "void main(", " package ", "package a.", "class a{void main()", "@A({", "static void main "],
)  # fmt: skip
def test_a_hostile_source_costs_little(piece: str) -> None:
    start = time.process_time()
    layout("java", ("Main.java", piece * (500_000 // len(piece))))
    assert time.process_time() - start < 5


@pytest.mark.parametrize("language", [language.name for language in LANGUAGES])
@pytest.mark.parametrize("unit", [b"\n", b" ", b"{", b"/*", b"'", b"import ", b"class A "])
def test_hostile_sources_are_laid_out_in_linear_time(language: str, unit: bytes) -> None:
    """Nothing is asserted: with a rule that backtracks this would take minutes."""
    known = LANGUAGES.get(language)
    lay_out(known, [File(known.source, unit * (200_000 // len(unit)))])
