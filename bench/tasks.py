"""The programs that are measured, and the commands one would type to run them without us."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from bench.grading import SOLUTION, TESTS

Command = tuple[str, ...]

_PROGRAM = ("{folder}/program",)


@dataclass(frozen=True)
class Task:
    """In commands `{folder}` is where the source lies, other names are the language's tools and
    scripts."""

    language: str
    commands: Sequence[Command]
    text: str = ""  # of the program; empty: the language's own hello
    prints: bytes = b""
    comment: str = "//"
    fresh: bool = True  # each time with a source that nobody has seen before
    cache: Command = ()  # prints the directory of a cache that the user's own tool writes to

    @property
    def compiled(self) -> bool:
        return len(self.commands) > 1

    def source(self, hello: str) -> str:
        text = self.text or hello
        return f"{text}\n{self.comment} {uuid.uuid4()}\n" if self.fresh else text


_CONTEST = """
#include <bits/stdc++.h>
using namespace std;

int main() {
    map<string, vector<int>> seen;
    for (int n : {3, 1, 2}) seen["numbers"].push_back(n);
    auto& numbers = seen["numbers"];
    sort(numbers.begin(), numbers.end());
    if (numbers[0] == 1) cout << "sorted" << endl;
}
"""
_SUM_CPP = """
#include <iostream>

int main() {
    long long sum = 0, number;
    while (std::cin >> number) sum += number;
    std::cout << sum << "\\n";
}
"""
_SUM_PYTHON = """
import sys

print(sum(map(int, sys.stdin.read().split())))
"""
_GXX = ("{cxx}", "-O2", "-o", "{folder}/program", "{folder}/main.cpp")
_PYTHON = ("{python}", "{folder}/main.py")

C = Task(
    "c",
    (("{cc}", "-O2", "-o", "{folder}/program", "{folder}/main.c"), _PROGRAM),
    text="int main(void) { return 0; }\n",
)
PYTHON = Task("python", (_PYTHON,), text="print('hello')\n", prints=b"hello\n", fresh=False)
NUMPY = Task(
    "python",
    (_PYTHON,),
    text="import numpy\n\nprint(numpy.arange(10).sum())\n",
    prints=b"45\n",
    fresh=False,
)
CPP = Task("cpp", (_GXX, _PROGRAM), prints=b"Hello from C++\n")
CONTEST = Task("cpp", (_GXX, _PROGRAM), text=_CONTEST, prints=b"sorted\n")
AGAIN = Task("cpp", (_GXX, _PROGRAM), text=_CONTEST, prints=b"sorted\n", fresh=False)
JAVA = Task(
    "java",
    (
        ("{javac}", "-d", "{folder}", "{folder}/Main.java"),
        ("{java}", "-cp", "{folder}", "Main"),
    ),
    prints=b"Hello from Java\n",
)
GO = Task(
    "go",
    (
        ("{go}", "build", "-ldflags=-s -w", "-o", "{folder}/program", "{folder}/main.go"),
        _PROGRAM,
    ),
    prints=b"Hello from Go\n",
    cache=("{go}", "env", "GOCACHE"),
)
RUST = Task(
    "rust",
    (
        ("{rustc}", "--edition=2021", "-O", "-o", "{folder}/program", "{folder}/main.rs"),
        _PROGRAM,
    ),
    prints=b"Hello from Rust\n",
)
NODE = Task("javascript", (("{node}", "{folder}/main.js"),), prints=b"Hello from JavaScript\n")
TYPESCRIPT = Task(
    "typescript",
    (
        ("{node}", "-e", "{transpile}", "{tsc}", "{folder}/main.ts"),  # with our own script
        ("{node}", "{folder}/main.js"),
    ),
    prints=b"Hello from TypeScript\n",
)
RUBY = Task("ruby", (("{ruby}", "{folder}/main.rb"),), prints=b"Hello from Ruby\n", comment="#")
JUDGE_PYTHON = Task("python", (_PYTHON,), text=_SUM_PYTHON, comment="#")
GRADED = Task("python", (_PYTHON,), text=SOLUTION + TESTS, fresh=False)
JUDGE_CPP = Task("cpp", (_GXX, _PROGRAM), text=_SUM_CPP)
