"""The tests below data/, and what the YAML files beside them say of how they are run.

data/sample and data/secret hold tests, or directories of tests. A test is NAME.in and NAME.ans;
NAME.files/ lies beside the program, NAME.args are its arguments, NAME.yaml may say more. What is
said of a directory holds for all below it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from coderunner.errors import InvalidInput
from coderunner.judge.case import Case
from coderunner.judge.problem.document import Section, read_yaml
from coderunner.judge.problem.folder import Folder
from coderunner.judge.problem.icpc.metadata import Metadata

LEGACY_FILE, NEWER_FILE = "testdata.yaml", "test_group.yaml"
SAMPLE, SECRET = "sample", "secret"
_LEGACY_KEYS = (
    "on_reject",
    "grading",
    "grader_flags",
    "accept_score",
    "reject_score",
    "range",
    "input_validator_flags",
    "output_validator_flags",
    "output_validator_args",
    "args",
)
_NEWER_KEYS = (
    "max_score",
    "score_aggregation",
    "require_pass",
    "static_validation_score",
    "static_validator_args",
    "args",
    "input_validator_args",
    "output_validator_args",
    "input_visualizer_args",
    "output_visualizer_args",
    "full_feedback",
)
_CASE_KEYS = (*_NEWER_KEYS[5:], "hint", "description")


@dataclass(frozen=True, slots=True)
class Node:
    """A directory of tests: their places in the list of all, and directories, by name."""

    id: str
    said: Section  # in its YAML file
    legacy: bool  # that file is a testdata.yaml
    members: tuple[Node | int, ...]

    def places(self) -> Iterator[int]:
        for member in self.members:
            if isinstance(member, Node):
                yield from member.places()
            else:
                yield member

    def nodes(self) -> Iterator[Node]:
        yield self
        for member in self.members:
            if isinstance(member, Node):
                yield from member.nodes()


@dataclass(frozen=True, slots=True)
class _Inherited:
    args: tuple[str, ...] | None = None
    flags: tuple[str, ...] = ()

    def but(self, said: Section) -> _Inherited:
        flags = next((key for key in _FLAGS if key in said), None)
        return _Inherited(
            said.words("args") if "args" in said else self.args,
            self.flags if flags is None else _flags(said, flags),
        )


_FLAGS = ("output_validator_args", "output_validator_flags")


def _flags(said: Section, key: str) -> tuple[str, ...]:
    if isinstance(said.get(key), dict):
        return said.section(key).words("flags")
    return said.words(key)


class Tests:
    """All tests of a package: `cases` in the order in which they are run, `root` as a tree."""

    __test__ = False

    def __init__(self, folder: Folder, metadata: Metadata) -> None:
        self._folder = folder
        self._metadata = metadata
        self.cases: list[Case] = []
        data = folder / "data"
        said, legacy = self._said(data)
        inherited = _Inherited().but(said)
        members = [self._node(data / name, name, inherited) for name in (SAMPLE, SECRET)]
        self.root = Node("data", said, legacy, tuple(node for node in members if node.members))
        if not self.cases:
            raise folder.error(
                data, "there are no tests", hint="they go into data/secret, as NAME.in and NAME.ans"
            )

    @property
    def samples(self) -> frozenset[int]:
        nodes = (node for node in self.root.nodes() if node.id == SAMPLE)
        return frozenset(place for node in nodes for place in node.places())

    def _node(self, path: Path, name: str, inherited: _Inherited) -> Node:
        said, legacy = self._said(path)
        inherited = inherited.but(said)
        members: list[Node | int] = []
        for stem, entry in self._by_name(path):
            member_name = f"{name}/{stem}"
            if self._folder.has_folder(entry):
                node = self._node(entry, member_name, inherited)
                members += [node] if node.members else []
            else:
                members.append(len(self.cases))
                self.cases.append(self._case(entry, member_name, inherited))
        return Node(name, said, legacy, tuple(members))

    def _by_name(self, path: Path) -> list[tuple[str, Path]]:
        """Directories and inputs, each by its name without the extension."""
        entries = self._folder.entries(path)
        inputs = {entry.stem for entry in entries if entry.suffix == ".in"}
        found = []
        for entry in entries:
            if entry.suffix == ".in":
                found.append((entry.stem, entry))
            elif entry.suffix == ".ans" and entry.stem not in inputs:
                raise self._folder.error(entry, f"there is no {entry.stem}.in beside it")
            elif entry.suffix != ".files" and self._folder.has_folder(entry):
                found.append((entry.name, entry))
        return sorted(found)

    def _said(self, path: Path) -> tuple[Section, bool]:
        legacy, newer = path / LEGACY_FILE, path / NEWER_FILE
        has_legacy, has_newer = self._folder.has_file(legacy), self._folder.has_file(newer)
        if has_newer and (has_legacy or self._metadata.legacy):
            why = f"there is a {LEGACY_FILE}, too" if has_legacy else "the package is a legacy one"
            hint = "problem_format_version: 2025-09 in problem.yaml says that it is not"
            raise self._folder.error(newer, f"does not count here: {why}", hint=hint)
        if not has_legacy and not has_newer:
            return Section({}, self._folder.name(newer)), False
        said = read_yaml(self._folder, legacy if has_legacy else newer)
        said.no_misspelt(_LEGACY_KEYS if has_legacy else _NEWER_KEYS)
        if "static_validation_score" in said:
            raise said.error("static_validation_score", "static validators are not supported")
        return said, has_legacy

    def _case(self, path: Path, name: str, inherited: _Inherited) -> Case:
        answer = path.with_suffix(".ans")
        if not self._folder.has_file(answer):
            raise self._folder.error(answer, f"is missing: the answer to {path.name}")
        beside = path.with_suffix(".yaml")
        if self._folder.has_file(beside):
            said = read_yaml(self._folder, beside)
            said.no_misspelt(_CASE_KEYS)
            inherited = inherited.but(said)
        files = path.with_suffix(".files")
        case = Case(
            id=name,
            input=self._folder.data(path),
            answer=self._folder.data(answer),
            limits=self._metadata.limits,
            args=inherited.args,
            flags=(*self._metadata.validator_flags, *inherited.flags),
            files=self._folder.files(files) if self._folder.has_folder(files) else (),
        )
        args = path.with_suffix(".args")
        return replace(case, args=self._args(args)) if self._folder.has_file(args) else case

    def _args(self, path: Path) -> tuple[str, ...]:
        """Written as a shell would read them."""
        try:
            return tuple(shlex.split(self._folder.text(path)))
        except ValueError as error:
            raise InvalidInput(f"{self._folder.name(path)}: {error}") from None
