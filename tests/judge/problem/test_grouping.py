"""What tests are worth, by the YAML files beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.judge.case import Judged
from coderunner.judge.groups import Deciding, Graded, Group, Member, Scoring, grade, skips
from coderunner.judge.problem.model import Problem
from coderunner.judge.verdict import Verdict
from tests.judge.problem.making import NEWER, pairs, read, refused

pytestmark = pytest.mark.unit

SCORING = NEWER + "type: scoring\n"
LETTERS = {"A": Verdict.ACCEPTED, "W": Verdict.WRONG_ANSWER, "-": Verdict.SKIPPED}


def graded(problem: Problem, letters: str) -> Graded:
    return grade(problem.root, [Judged(LETTERS[letter]) for letter in letters])


def score(problem: Problem, letters: str) -> float:
    return graded(problem, letters).score


def group(problem: Problem, name: str, within: Group | None = None) -> Group:
    inside = (m for m in (within or problem.root).members if isinstance(m, Group))
    for one in inside:
        if one.id == name:
            return one
        if name.startswith(one.id):
            return group(problem, name, one)
    raise AssertionError(name)


def two_groups(**said: str) -> dict[str, str | bytes]:
    """Two tests in each; a sample; and what is said of data, secret, a and b."""
    places = {"data": "data", "secret": "data/secret", "a": "data/secret/a", "b": "data/secret/b"}
    return {
        **pairs("1", folder="data/sample"),
        **pairs("1", "2", folder="data/secret/a"),
        **pairs("1", "2", folder="data/secret/b"),
        **{f"{places[name]}/{NAMES[0]}": yaml for name, yaml in said.items()},
    }


NAMES = ("testdata.yaml", "test_group.yaml")


def newer(**said: str) -> dict[str, str | bytes]:
    return {name.replace(*NAMES): content for name, content in two_groups(**said).items()}


class TestLegacy:
    """testdata.yaml."""

    def test_nothing_said(self, tmp_path: Path) -> None:
        problem = read(tmp_path, two_groups())
        secret = Group(
            "secret",
            (
                Group("secret/a", (Member(1), Member(2)), breaks=True),
                Group("secret/b", (Member(3), Member(4)), breaks=True),
            ),
            breaks=True,
        )
        sample = Group("sample", (Member(0),), breaks=True)
        assert problem.root == Group("data", (sample, secret), breaks=True)

    def test_a_rejected_test_settles_it(self, tmp_path: Path) -> None:
        problem = read(tmp_path, two_groups())
        assert skips(problem.root)(1) == {2, 3, 4}
        assert graded(problem, "AW---").verdict is Verdict.WRONG_ANSWER

    def test_going_on(self, tmp_path: Path) -> None:
        problem = read(tmp_path, two_groups(data="on_reject: continue", a="on_reject: break"))
        assert skips(problem.root)(1) == {2}
        assert not group(problem, "secret/b").breaks

    def test_points(self, tmp_path: Path) -> None:
        said = {
            "data": "{on_reject: continue, grader_flags: ignore_sample, range: 0 100}",
            "secret": "{grader_flags: first_error accept_if_any_accepted}",
            "a": "{accept_score: 30, range: 0 30, grader_flags: min}",
            "b": "{accept_score: 70, range: 0 70, grader_flags: min}",
        }
        problem = read(tmp_path, two_groups(**said), yaml="type: scoring")
        assert graded(problem, "AAAAA").most == 100
        assert score(problem, "AAAAA") == 100
        assert score(problem, "WAAAW") == 30
        assert graded(problem, "WAAAW").verdict is Verdict.ACCEPTED
        assert graded(problem, "AWAAW").verdict is Verdict.WRONG_ANSWER

    def test_a_group_has_the_words_of_the_one_around_it(self, tmp_path: Path) -> None:
        said = {
            "data": "{accept_score: 5, reject_score: -1, grader_flags: max always_accept}",
            "a": "accept_score: 7",
            "b": "grader_flags: avg",
        }
        problem = read(tmp_path, two_groups(**said), yaml="type: scoring")
        a, b = group(problem, "secret/a"), group(problem, "secret/b")
        assert a.members == (Member(1, 7, -1), Member(2, 7, -1))
        assert b.members == (Member(3, 5, -1), Member(4, 5, -1))
        assert (a.scoring, a.deciding) == (Scoring.MAX, Deciding.ACCEPT)
        assert (b.scoring, b.deciding) == (Scoring.AVG, Deciding.WORST)

    def test_but_not_its_range(self, tmp_path: Path) -> None:
        problem = read(tmp_path, two_groups(data="range: -inf 100", a="range: 0 +inf"))
        assert problem.root.most == 100
        assert group(problem, "secret").most is None
        assert group(problem, "secret/a").most is None

    def test_samples_are_ignored_only_at_the_top(self, tmp_path: Path) -> None:
        problem = read(tmp_path, two_groups(data="grader_flags: ignore_sample"))
        assert problem.root.last_counts
        assert not group(problem, "secret").last_counts

    def test_of_flags_that_contradict_the_last_counts(self, tmp_path: Path) -> None:
        root = read(tmp_path, two_groups(data="grader_flags: max no_errors first_error min")).root
        assert (root.scoring, root.deciding) == (Scoring.MIN, Deciding.FIRST)

    def test_an_empty_group_is_none(self, tmp_path: Path) -> None:
        files = {**pairs("1"), "data/secret/a/readme.txt": "", "data/sample/x.interaction": ""}
        assert read(tmp_path, files).root == Group(
            "data", (Group("secret", (Member(0),), breaks=True),), breaks=True
        )

    def test_a_newer_package_may_have_the_older_files(self, tmp_path: Path) -> None:
        files = two_groups(a="accept_score: 3", data="on_reject: continue")
        problem = read(tmp_path, files, yaml=SCORING)
        assert score(problem, "AAAWW") == 1 + 6

    @pytest.mark.parametrize(
        ("yaml", "what"),
        [
            ("on_reject: stop", "on_reject: must be break or continue, not 'stop'"),
            ("grading: custom", "grading: graders of one's own are not supported"),
            ("grader_flags: median", "grader_flags: the grader has no flag 'median'"),
            ("range: 5", "range: must be two numbers, as in 0 100"),
            ("range: a b", "range: must be two numbers, as in 0 100"),
            ("range: 5 3", "range: its first number is above its second"),
            ("accept_score: much", "accept_score: must be a number, not 'much'"),
        ],
    )
    def test_what_makes_no_sense(self, tmp_path: Path, yaml: str, what: str) -> None:
        error = refused(tmp_path / "x", two_groups(a=yaml))
        assert str(error) == f"x/data/secret/a/testdata.yaml: {what}"


class TestNewer:
    """test_group.yaml."""

    def test_pass_or_fail(self, tmp_path: Path) -> None:
        problem = read(tmp_path, newer(), yaml=NEWER)
        assert problem.root == read(tmp_path / "legacy", newer()).root
        assert skips(problem.root)(0) == {1, 2, 3, 4}

    def test_secret_is_worth_a_hundred(self, tmp_path: Path) -> None:
        files = {**pairs("1", folder="data/sample"), **pairs("1", "2", "3", "4")}
        problem = read(tmp_path, files, yaml=SCORING)
        assert graded(problem, "AAAAA").most == 100
        assert score(problem, "WAAAW") == 75
        assert skips(problem.root)(1) == frozenset()

    def test_groups_are_all_or_nothing(self, tmp_path: Path) -> None:
        problem = read(tmp_path, newer(a="max_score: 30", b="max_score: 70"), yaml=SCORING)
        assert graded(problem, "AAAAA").most == 100
        assert score(problem, "AAAAA") == 100
        assert score(problem, "AAAAW") == 30
        assert skips(problem.root)(1) == {2}

    def test_a_group_may_be_a_sum(self, tmp_path: Path) -> None:
        said = {"a": "{max_score: 30, score_aggregation: sum}", "b": "max_score: 70"}
        problem = read(tmp_path, newer(**said), yaml=SCORING)
        assert score(problem, "AAWAA") == 85
        assert skips(problem.root)(1) == frozenset()

    def test_a_group_may_be_a_minimum(self, tmp_path: Path) -> None:
        said = {"a": "{max_score: 30, score_aggregation: min}", "b": "max_score: 70"}
        problem = read(tmp_path, newer(**said), yaml=SCORING)
        assert score(problem, "AAWAA") == 70
        assert score(problem, "AAAAW") == 30

    def test_so_may_all_of_it(self, tmp_path: Path) -> None:
        said = {"secret": "{max_score: 50, score_aggregation: min}"}
        said |= {"a": "max_score: 50", "b": "max_score: 50"}
        problem = read(tmp_path, newer(**said), yaml=SCORING)
        assert (score(problem, "AAAAA"), score(problem, "AAAAW")) == (50, 0)

    def test_all_of_it_may_be_all_or_nothing(self, tmp_path: Path) -> None:
        said = {"secret": "{max_score: 20, score_aggregation: pass-fail}"}
        problem = read(tmp_path, newer(**said), yaml=SCORING)
        assert (score(problem, "AAAAA"), score(problem, "AAAAW")) == (20, 0)
        assert skips(problem.root)(1) == {2, 3, 4}

    def test_directories_in_a_group_are_no_groups(self, tmp_path: Path) -> None:
        files = {**newer(a="max_score: 50", b="max_score: 50")}
        files |= pairs("3", folder="data/secret/b/more")
        problem = read(tmp_path, files, yaml=SCORING)
        b = group(problem, "secret/b")
        assert b.members == (Member(3, 50), Member(4, 50), Member(5, 50))

    def test_samples_are_worth_nothing(self, tmp_path: Path) -> None:
        problem = read(tmp_path, pairs("1", folder="data/sample"), yaml=SCORING)
        assert graded(problem, "A") == Graded(
            "data", Verdict.ACCEPTED, 0, 0, (Graded("sample", Verdict.ACCEPTED, 0, 0),)
        )

    @pytest.mark.parametrize("name", ["a", "secret/a"])
    def test_a_group_that_requires_another(self, tmp_path: Path, name: str) -> None:
        said = {"a": "max_score: 30", "b": f"{{max_score: 70, require_pass: {name}}}"}
        problem = read(tmp_path, newer(**said), yaml=SCORING)
        assert graded(problem, "AAAAA").most == 100
        assert score(problem, "AAAAA") == 100
        assert score(problem, "AAAAW") == 30
        assert score(problem, "AAWAA") == 0
        assert score(problem, "AW-AA") == 0

    def test_a_sum_that_requires_a_sample(self, tmp_path: Path) -> None:
        b = "{max_score: 70, score_aggregation: sum, require_pass: [sample]}"
        problem = read(tmp_path, newer(a="max_score: 30", b=b), yaml=SCORING)
        assert score(problem, "AWWAW") == 35
        assert score(problem, "WAAAA") == 30

    def test_what_is_required_has_what_it_requires(self, tmp_path: Path) -> None:
        files = {
            **newer(a="{max_score: 30, require_pass: sample}", b="max_score: 30"),
            **pairs("1", folder="data/secret/c"),
            "data/secret/c/test_group.yaml": "{max_score: 40, require_pass: a}",
        }
        problem = read(tmp_path, files, yaml=SCORING)
        assert score(problem, "AAAAAA") == 100
        assert score(problem, "WAAAAA") == 30

    def test_without_a_bound_the_checker_says_what_it_is_worth(self, tmp_path: Path) -> None:
        files = {**pairs("1", "2"), "data/secret/test_group.yaml": "max_score: unbounded"}
        problem = read(tmp_path, files, yaml=SCORING)
        assert group(problem, "secret").most is None
        assert score(problem, "AA") == 0

    @pytest.mark.parametrize(
        ("said", "file", "what"),
        [
            ({}, "a", "max_score: is missing: how much is this group worth?"),
            ({"a": "max_score: unbounded"}, "a", "max_score: is missing: how much is this"),
            ({"a": "max_score: -1"}, "a", "max_score: must be at least 0"),
            ({"a": "score_aggregation: avg"}, "a", "score_aggregation: 'avg' is no way to do it"),
            (
                {"secret": "score_aggregation: pass-fail", "a": "score_aggregation: sum"},
                "a",
                "score_aggregation: must be pass-fail, as that of secret is",
            ),
            (
                {"secret": "{score_aggregation: pass-fail, max_score: unbounded}"},
                "secret",
                "max_score: must have a bound if score_aggregation is pass-fail",
            ),
            (
                {"a": "{max_score: 1, require_pass: b}", "b": "max_score: 1"},
                "a",
                "require_pass: 'b' is no group that comes before this one",
            ),
        ],
    )
    def test_what_makes_no_sense(
        self, tmp_path: Path, said: dict[str, str], file: str, what: str
    ) -> None:
        error = refused(tmp_path / "x", newer(**said), yaml=SCORING)
        place = "data/secret" if file == "secret" else f"data/secret/{file}"
        assert str(error).startswith(f"x/{place}/test_group.yaml: {what}")

    def test_tests_beside_groups_are_worth_nothing_that_could_be_said(self, tmp_path: Path) -> None:
        files = {**newer(a="max_score: 50", b="max_score: 50"), **pairs("1")}
        error = refused(tmp_path, files, yaml=SCORING)
        assert "data/secret may have tests or groups of tests, not both" in str(error)
