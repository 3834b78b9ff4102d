"""A submission and an interactor that speak with each other, each in a box of its own.

    submission ── stdout ──▶ Wire ──▶ stdin ── interactor
               ◀── stdin ─── Wire ◀── stdout ──

Whoever ends first has said the last word: an interactor that has rejected cannot be appeased, and a
submission that has crashed cannot be saved by what the interactor makes of it.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from coderunner.build import Build
from coderunner.cancelling import cancel
from coderunner.feed import Feed
from coderunner.judge import verdict
from coderunner.judge.case import Case, Judged, trimmed
from coderunner.judge.checkers import program
from coderunner.judge.checkers.opened import Check
from coderunner.judge.checkers.program import Opened
from coderunner.judge.difference import printable
from coderunner.judge.trial import KEEP_BYTES, Try, conclude
from coderunner.judge.verdict import Verdict
from coderunner.model import EndedBy, File, Outcome, Result, Stream

_LAST_WORDS_S = 0.05  # between somebody's last word and its end, if it has nothing more to do
_CONCLUSION_S = 5.0  # for an interactor that has said its last word to end by itself
_GOODBYE_S = 0.5  # for a submission to end by itself, once it is rejected
_CONCLUDING_MS = 10_000  # for an interactor to conclude, once the submission has ended
_TRANSCRIPT_BYTES = 16 * 1024


class Transcript:
    """The beginning of a conversation: who said what."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, bytearray]] = []
        self._room = _TRANSCRIPT_BYTES

    def add(self, who: str, said: bytes) -> None:
        said = said[: self._room]
        self._room -= len(said)
        if not said:
            return
        if self._parts and self._parts[-1][0] == who:
            self._parts[-1][1].extend(said)
        else:
            self._parts.append((who, bytearray(said)))

    def __str__(self) -> str:
        lines = [
            f"{who} {printable(line)}"
            for who, said in self._parts
            for line in said.decode("utf-8", "surrogateescape").splitlines()
        ]
        return "\n".join(lines) + ("" if self._room else "\n…")


class Wire(Feed):
    """What one side says and the other hears: a pipe, and we are its middle."""

    def __init__(self, who: str, transcript: Transcript, *, may_close: bool) -> None:
        super().__init__()
        self._who = who
        self._may_close = may_close
        self.last_word_said = False  # by a speaker that may have ended, but maybe has not
        self._transcript = transcript

    async def __call__(self, stream: Stream, chunk: bytes) -> None:
        """The sink of who speaks."""
        if stream is Stream.STDOUT and await self.put(chunk):
            self._transcript.add(self._who, chunk)

    async def ended(self, stream: Stream) -> None:
        """The speaker's output is over. Mostly because it has ended, and then that should be known
        before the other learns of it: or nobody could tell who ended first. A submission that has
        closed its output, and goes on, has not ended: only an interactor may do so on purpose."""
        if stream is Stream.STDOUT and self._may_close:
            self.last_word_said = True
            asyncio.get_running_loop().call_later(_LAST_WORDS_S, self.close)


class _Conversation:
    def __init__(self, build: Build, interactor: Opened, case: Case) -> None:
        self._build = build
        self._interactor = interactor
        self._case = case
        self._transcript = Transcript()
        self._from_submission = Wire(">", self._transcript, may_close=False)
        self._from_interactor = Wire("<", self._transcript, may_close=True)
        self._first = ""  # who has ended first

    async def judged(self, check: Check | None, keep_bytes: int) -> Judged:
        files = await program.files_for(self._case)
        interactor = asyncio.create_task(self._answer(files))
        submission = asyncio.create_task(self._speak(interactor))
        both = {submission, interactor}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if self._first == _SUBMISSION or (submission.done() and not self._first):
                judged = self._after_submission(submission.result(), await interactor)
            else:
                judged = await self._after_interactor(interactor.result(), submission)
            if judged.verdict is Verdict.ACCEPTED and check is not None:
                judged = await self._by_checker(check, interactor.result(), judged)
        finally:
            await cancel(both)
        outcome = judged.outcome and trimmed(judged.outcome, keep_bytes)
        return replace(judged, outcome=outcome, transcript=str(self._transcript))

    async def _speak(self, interactor: asyncio.Task[Result]) -> Outcome:
        """A submission that fails after the interactor's last word may fail because of that, and on
        a busy machine we may know of it first. As long as the interactor is not told of it, it can
        only end by itself: then it was the first."""
        try:
            result = await self._build.run(
                limits=self._case.limits,
                stdin=self._from_interactor.listen(),
                sink=self._from_submission,
                args=self._case.args,
                files=self._case.files,
            )
            failed = verdict.of_run(result.outcome) is not None
            if failed and self._from_interactor.last_word_said:
                await asyncio.wait({interactor}, timeout=_CONCLUSION_S)
        finally:
            self._over(_SUBMISSION, self._from_submission, self._from_interactor)
        return result.outcome

    async def _answer(self, files: tuple[File, ...]) -> Result:
        wall_ms = self._case.limits.wall_ms + _CONCLUDING_MS
        try:
            return await self._interactor.build.run(
                limits=self._interactor.limits(files, wall_ms),
                stdin=self._from_submission.listen(),
                sink=self._from_interactor,
                args=self._interactor.args(self._case),
                files=files,
                collect=self._interactor.leaves,
            )
        finally:
            self._over(_INTERACTOR, self._from_interactor, self._from_submission)

    def _over(self, who: str, said: Wire, heard: Wire) -> None:
        self._first = self._first or who
        said.close()
        heard.nobody_listens()

    def _after_submission(self, outcome: Outcome, conclusion: Result) -> Judged:
        """What it failed of itself stands, unless the interactor was stuck: then it may have been
        waiting for that."""
        checked = self._interactor.verdict(conclusion)
        stuck = conclusion.outcome.ended_by not in (EndedBy.EXIT, EndedBy.SIGNAL)
        if verdict.of_run(outcome) is not None and not stuck:
            return conclude(self._case, outcome, None)
        return conclude(self._case, outcome, checked)

    async def _after_interactor(
        self, conclusion: Result, submission: asyncio.Task[Outcome]
    ) -> Judged:
        checked = self._interactor.verdict(conclusion)
        if checked.verdict is not Verdict.ACCEPTED:
            await asyncio.wait({submission}, timeout=_GOODBYE_S)
            outcome = submission.result() if submission.done() else None
            return conclude(self._case, outcome, checked)
        outcome = await submission
        failed = verdict.of_run(outcome) is not None
        return conclude(self._case, outcome, None if failed else checked)

    async def _by_checker(self, check: Check, conclusion: Result, judged: Judged) -> Judged:
        """What the interactor has written down is looked at by a checker, too."""
        output = next((f.content for f in conclusion.files if f.name == program.OUTPUT), b"")
        return conclude(self._case, judged.outcome, await check(self._case, output))


_SUBMISSION, _INTERACTOR = "submission", "interactor"


def interactive(
    build: Build, interactor: Opened, check: Check | None, *, keep_bytes: int = KEEP_BYTES
) -> Try:
    """With `check`, a checker has the last word on what an interactor has accepted."""

    async def judged(case: Case) -> Judged:
        return await _Conversation(build, interactor, case).judged(check, keep_bytes)

    return judged
