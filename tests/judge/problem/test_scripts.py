"""Validators that bring scripts of their own: `build` makes them, `run` is what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.errors import JudgeFailed
from coderunner.judge.verdict import Verdict
from tests.judge.problem.judged import judged
from tests.judge.problem.making import Files
from tests.support import require_sandbox, require_toolchain

pytestmark = pytest.mark.engines

COMPARE = """
#include <fstream>
#include <iostream>
int main(int, char **argv) {
    std::string expected, found;
    std::ifstream(argv[2]) >> expected;
    std::cin >> found;
    return expected == found ? 42 : 43;
}
"""
SUBMISSIONS = {
    "data/secret/1.in": "1\n",
    "data/secret/1.ans": "1\n",
    "submissions/accepted/a.py": "print(1)",
    "submissions/wrong_answer/w.py": "print(2)",
}
SH = "#!/bin/sh\n"


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


@pytest.mark.parametrize(
    "scripts",
    [
        {"build": SH + "c++ -o run compare.cc\n", "compare.cc": COMPARE},
        {
            "build": "c++ -o compare compare.cc\n",
            "run": "exec ./compare $@\n",
            "compare.cc": COMPARE,
        },
        {"run": SH + '[ "$(cat)" = "$(cat "$2")" ] && exit 42; exit 43\n'},
    ],
    ids=["a program", "both", "a script"],
)
@pytest.mark.parametrize("folder", ["output_validators/v", "output_validators"])
async def test_what_they_make_is_the_validator(
    tmp_path: Path, scripts: dict[str, str], folder: str
) -> None:
    require_toolchain("cpp")
    files = SUBMISSIONS | {f"{folder}/{name}": text for name, text in scripts.items()}
    found = await judged(tmp_path, files, yaml="validation: custom\nname: X\n")
    assert {name: one.verdict for name, one in found.items()} == {
        "accepted/a.py": Verdict.ACCEPTED,
        "wrong_answer/w.py": Verdict.WRONG_ANSWER,
    }


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo no luck >&2; exit 3\n", "no luck"),
        ("true\n", "build has not made an executable file called run"),
    ],
)
async def test_scripts_that_make_nothing(tmp_path: Path, script: str, why: str) -> None:
    files: Files = SUBMISSIONS | {"output_validators/build": SH + script}
    with pytest.raises(JudgeFailed) as caught:
        await judged(tmp_path, files, yaml="validation: custom\nname: X\n")
    assert why in caught.value.message
