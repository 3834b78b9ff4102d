"""What groups are worth, and whom a rejected test spares."""

from __future__ import annotations

import pytest

from coderunner.judge.case import Checked, Judged
from coderunner.judge.groups import Deciding, Graded, Group, Member, Scoring, grade, skips
from coderunner.judge.verdict import Verdict

pytestmark = pytest.mark.unit

LETTERS = {
    "A": Verdict.ACCEPTED,
    "W": Verdict.WRONG_ANSWER,
    "T": Verdict.TIME_LIMIT,
    "R": Verdict.RUN_TIME_ERROR,
    "J": Verdict.JUDGE_ERROR,
    "-": Verdict.SKIPPED,
}


def results(letters: str) -> list[Judged]:
    return [Judged(LETTERS[letter]) for letter in letters]


def members(*indexes: int, accepted: float = 1.0) -> tuple[Member, ...]:
    return tuple(Member(index, accepted) for index in indexes)


def graded(group: Group, letters: str) -> Graded:
    return grade(group, results(letters))


@pytest.mark.parametrize(
    ("scoring", "letters", "score"),
    [
        (Scoring.SUM, "AAW", 20),
        (Scoring.SUM, "WWW", 0),
        (Scoring.MIN, "AAA", 10),
        (Scoring.MIN, "AAW", 0),
        (Scoring.MIN, "AA-", 0),
        (Scoring.MAX, "WAW", 10),
        (Scoring.AVG, "AAAW", 7.5),
    ],
)
def test_scores(scoring: Scoring, letters: str, score: float) -> None:
    group = Group("g", members(*range(len(letters)), accepted=10), scoring)
    assert graded(group, letters).score == score


def test_a_checkers_score_takes_the_place_of_the_tests() -> None:
    partly = Judged(Verdict.ACCEPTED, checked=Checked(Verdict.ACCEPTED, score=3.5))
    group = Group("g", members(0, 1, accepted=10))
    found = grade(group, [partly, Judged(Verdict.ACCEPTED)])
    assert (found.score, found.most) == (13.5, 20)


@pytest.mark.parametrize("given", [{"score": 100.0}, {"share": 0.5}])
def test_a_checker_has_no_score_for_what_it_rejects(given: dict[str, float]) -> None:
    wrong = Judged(Verdict.WRONG_ANSWER, checked=Checked(Verdict.WRONG_ANSWER, **given))  # type: ignore[arg-type]
    found = grade(Group("g", (Member(0, accepted=10, rejected=2),)), [wrong])
    assert (found.verdict, found.score) == (Verdict.WRONG_ANSWER, 2)


def test_a_score_is_cut_at_the_groups_most() -> None:
    group = Group("g", members(0, 1, accepted=10), most=15)
    assert (graded(group, "AA").score, graded(group, "AW").score) == (15, 10)
    assert graded(group, "AA").most == 15


@pytest.mark.parametrize(
    ("deciding", "letters", "verdict"),
    [
        (Deciding.WORST, "AAA", "A"),
        (Deciding.WORST, "WTR", "R"),
        (Deciding.WORST, "WT", "T"),
        (Deciding.FIRST, "AWTR", "W"),
        (Deciding.FIRST, "AA", "A"),
        (Deciding.ACCEPT, "WWW", "A"),
        (Deciding.ACCEPT, "WJ", "J"),
        (Deciding.WORST, "A-", "A"),
        (Deciding.WORST, "--", "-"),
    ],
)
def test_verdicts(deciding: Deciding, letters: str, verdict: str) -> None:
    group = Group("g", members(*range(len(letters))), deciding=deciding)
    assert graded(group, letters).verdict is LETTERS[verdict]


def test_one_may_be_enough() -> None:
    group = Group("g", members(0, 1), any_will_do=True)
    assert graded(group, "WA").verdict is Verdict.ACCEPTED
    assert graded(group, "WW").verdict is Verdict.WRONG_ANSWER


def test_samples_may_be_for_show() -> None:
    sample, secret = Group("sample", members(0)), Group("secret", members(1))
    group = Group("data", (sample, secret), last_counts=True)
    found = graded(group, "WA")
    assert (found.verdict, found.score) == (Verdict.ACCEPTED, 1)
    assert [inner.verdict for inner in found.groups] == [Verdict.WRONG_ANSWER, Verdict.ACCEPTED]


def test_subtasks_add_up() -> None:
    easy = Group("easy", members(0, 1, accepted=30), Scoring.MIN)
    hard = Group("hard", members(2, 3, accepted=70), Scoring.MIN)
    found = graded(Group("all", (easy, hard)), "AAAW")
    assert (found.score, found.most) == (30, 100)
    assert found.verdict is Verdict.WRONG_ANSWER


def spared(group: Group, index: int) -> list[int]:
    return sorted(skips(group)(index))


def test_nobody_is_spared_unless_the_group_breaks() -> None:
    assert spared(Group("g", members(0, 1, 2)), 0) == []
    assert spared(Group("g", members(0, 1, 2), breaks=True), 0) == [1, 2]
    assert spared(Group("g", members(0, 1, 2), breaks=True), 2) == []


def test_a_group_that_goes_on_inside_one_that_breaks() -> None:
    inner = Group("inner", members(0, 1))
    outer = Group("outer", (inner, Member(2), Group("last", members(3, 4))), breaks=True)
    assert spared(outer, 0) == [2, 3, 4]  # 1 still counts for the inner group
    assert spared(outer, 2) == [3, 4]


def test_a_group_that_breaks_inside_one_that_goes_on() -> None:
    inner = Group("inner", members(0, 1), breaks=True)
    assert spared(Group("outer", (inner, Member(2))), 0) == [1]


def test_a_group_that_is_accepted_anyway_breaks_nothing_outside() -> None:
    inner = Group("inner", members(0, 1), breaks=True, deciding=Deciding.ACCEPT)
    outer = Group("outer", (inner, Member(2)), breaks=True)
    assert spared(outer, 0) == [1]


def test_tests_of_groups_may_be_mixed() -> None:
    odd = Group("odd", members(1, 3), breaks=True)
    even = Group("even", members(0, 2, 4), breaks=True)
    assert spared(Group("all", (even, odd)), 2) == [4]
    assert spared(Group("all", (even, odd)), 1) == [3]
