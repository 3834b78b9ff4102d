"""A report as JUnit's XML, which every CI server reads: a suite for each submission, a case for
each test.

A test that was rejected is no failure where its submission had to be rejected: the build is green
if all is as expected. What cannot be pinned on a test is a case of its own, called `verdict`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from coderunner.cli import judge_words as words
from coderunner.cli.judge_report import of_case
from coderunner.cli.streams import CannotWrite
from coderunner.errors import InvalidInput
from coderunner.judge.problem.report import Judgement, Report
from coderunner.judge.verdict import Verdict

_VERDICT = "verdict"


def place(text: str) -> Path:
    """Where it will be written; looked at before anything is judged."""
    path = Path(text)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InvalidInput(f"--junit {text!r} cannot be written", hint="name a file in a folder")
    return path


def write(report: Report, path: Path) -> None:
    try:
        path.write_bytes(of_report(report))
    except OSError as error:
        raise CannotWrite(f"cannot write {str(path)!r}: {error.strerror}") from error


def of_report(report: Report) -> bytes:
    root = ET.Element("testsuites", name=words.safe(report.problem.name))
    for judgement in report.judgements:
        root.append(_suite(report, judgement))
    _count(root)
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _suite(report: Report, judgement: Judgement) -> ET.Element:
    suite = ET.Element("testsuite", name=words.safe(judgement.submission.name))
    for place in range(len(judgement.cases)):
        suite.append(_case(report, judgement, place))
    bad = suite.find("*/failure") is not None or suite.find("*/error") is not None
    if not bad and not judgement.good:
        suite.append(_verdict(judgement))
    _count(suite)
    return suite


def _count(element: ET.Element) -> None:
    found = list(element.iter("testcase"))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(tag) is not None for case in found)))
    element.set("tests", str(len(found)))
    element.set("time", f"{sum(float(case.get('time', '0')) for case in found):.3f}")


def _case(report: Report, judgement: Judgement, place: int) -> ET.Element:
    judged = judgement.cases[place]
    wall_ms = judged.outcome.usage.wall_ms if judged.outcome else 0.0
    case = _empty_case(judgement, report.problem.cases[place].id, wall_ms)
    if judged.verdict is Verdict.ACCEPTED:
        return case
    if judged.verdict is Verdict.SKIPPED:
        ET.SubElement(case, "skipped", message=words.safe(judged.message))
        return case
    text = "\n".join(of_case(report, judged, place))
    if judgement.good:
        said = f"{words.verdict(judged.verdict)}, as it may be\n{text}"
        ET.SubElement(case, "system-out").text = said
        return case
    tag = "error" if judged.verdict is Verdict.JUDGE_ERROR else "failure"
    found = ET.SubElement(case, tag, message=words.verdict(judged.verdict))
    found.set("type", judged.verdict.value)
    found.text = text
    return case


def _verdict(judgement: Judgement) -> ET.Element:
    """Not judged, not compiled, accepted though it should not be, a score out of bounds."""
    case = _empty_case(judgement, _VERDICT, 0.0)
    failed = judgement.verdict is not None
    said = judgement.compilation.error if judgement.compilation else ""
    found = ET.SubElement(
        case,
        "failure" if failed else "error",
        message=words.judgement(judgement),
        type=judgement.verdict.value if judgement.verdict else "not_judged",
    )
    found.text = words.safe("\n".join(filter(None, (judgement.reason, judgement.hint, said))))
    return case


def _empty_case(judgement: Judgement, name: str, wall_ms: float) -> ET.Element:
    return ET.Element(
        "testcase",
        classname=words.safe(judgement.submission.name),
        name=words.safe(name),
        time=f"{wall_ms / 1000:.3f}",
    )
