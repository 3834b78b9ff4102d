"""A whole package, from its directory to a problem."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from coderunner.errors import InvalidInput
from coderunner.judge.case import Case
from coderunner.judge.checkers.tokens import Tokens, tokens_from_flags
from coderunner.judge.groups import Group
from coderunner.judge.problem.expectations import ACCEPTED, REJECTED
from coderunner.judge.problem.folder import Folder
from coderunner.judge.problem.icpc.included import read_included
from coderunner.judge.problem.icpc.legacy_groups import legacy_group
from coderunner.judge.problem.icpc.metadata import Metadata, read_metadata
from coderunner.judge.problem.icpc.scored_groups import pass_fail_group, scored_group
from coderunner.judge.problem.icpc.tests import Tests
from coderunner.judge.problem.icpc.validators import read_validator
from coderunner.judge.problem.model import Problem
from coderunner.judge.problem.submissions import belonging, read_submissions
from coderunner.language import Languages


def read_package(folder: Folder, languages: Languages) -> Problem:
    metadata = read_metadata(folder)
    _refuse_unsupported(folder)
    validator = read_validator(folder, metadata, languages)
    tests = Tests(folder, metadata)
    problem = Problem(
        name=metadata.name,
        path=folder.root,
        cases=tuple(tests.cases),
        root=_root(tests, metadata),
        samples=tests.samples,
        time=metadata.time,
        compile_limits=metadata.compile_limits,
        scoring=metadata.scoring,
        included=read_included(folder, languages, metadata.constants),
    )
    if validator is None:
        problem = _compared(problem)
    elif metadata.interactive:
        problem = replace(problem, interactor=validator)
    else:
        problem = replace(problem, checker=validator)
    around = replace(
        belonging(problem, languages),
        constants=metadata.constants,
        partial=ACCEPTED if _is_legacy(tests, metadata) else ACCEPTED | REJECTED,
    )
    return replace(problem, submissions=read_submissions(folder, around))


def _refuse_unsupported(folder: Folder) -> None:
    if folder.entries(path := folder / "static_validator"):
        raise folder.error(path, "static validators are not supported")


def _root(tests: Tests, metadata: Metadata) -> Group:
    if _is_legacy(tests, metadata):
        return legacy_group(tests.root)
    return scored_group(tests.root) if metadata.scoring else pass_fail_group(tests.root)


def _is_legacy(tests: Tests, metadata: Metadata) -> bool:
    """Packages of the newer version may have the older files: those say what is meant."""
    return metadata.legacy or any(node.legacy for node in tests.root.nodes())


def _compared(problem: Problem) -> Problem:
    """With the checker that most cases ask for by their flags. The others have their own."""
    checkers = {case.flags: _tokens(case) for case in reversed(problem.cases)}
    usual = checkers[Counter(case.flags for case in problem.cases).most_common(1)[0][0]]
    cases = [_with_own(case, checkers[case.flags], usual) for case in problem.cases]
    return replace(problem, cases=tuple(cases), checker=usual)


def _with_own(case: Case, checker: Tokens, usual: Tokens) -> Case:
    return replace(case, flags=(), checker=None if checker == usual else checker)


def _tokens(case: Case) -> Tokens:
    try:
        return tokens_from_flags(case.flags)
    except InvalidInput as error:
        why = f"the validator's flags of test {case.id}: {error.message}"
        raise InvalidInput(why, hint=error.hint) from None
