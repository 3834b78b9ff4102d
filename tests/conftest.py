"""Rules for the whole suite: what CI does not let pass, and what is said about tests left out."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Generator, Iterator

import hypothesis
import pytest

from tests.docker.daemon import docker_address
from tests.properties.effort import LONG
from tests.support import IN_CI, IS_ROOT

# How long one example takes says nothing on a busy machine. In CI every run tries the same ones.
hypothesis.settings.register_profile("patient", deadline=None, derandomize=IN_CI)
hypothesis.settings.register_profile("long", deadline=None, max_examples=5000)
hypothesis.settings.load_profile("long" if LONG else "patient")

# Who is started in the background ignores Ctrl-C, and so would every program of these tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is to be compiled is compiled, however often the suite runs; tests of the cache turn it on.
os.environ["CODERUNNER_COMPILE_CACHE_MB"] = "0"

# A test that means nothing for the user who runs the suite is not collected at all, in CI too:
# `make test` as root runs the suite as both.
NOT_FOR_ME, WHO_IT_IS_FOR = ("as_user", "an ordinary user") if IS_ROOT else ("as_root", "root")
not_for_me: list[pytest.Item] = []
not_this_time: list[pytest.Item] = []


@pytest.fixture(scope="session")
def dockerd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Docker daemon: of one that runs here, or that is started for the tests."""
    with docker_address(tmp_path_factory.mktemp("docker")) as address:
        yield address


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "dockerd" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.docker)
        # Who runs tests at the same time: one file after the other, and one daemon for them all.
        group = "docker" if item.get_closest_marker("docker") else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
    not_for_me[:] = [item for item in items if item.get_closest_marker(NOT_FOR_ME)]
    not_this_time[:] = [item for item in items if takes_long(item) and item not in not_for_me]
    out = {*not_for_me, *not_this_time}
    items[:] = [item for item in items if item not in out]
    config.hook.pytest_deselected(items=[*not_for_me, *not_this_time])


def takes_long(item: pytest.Item) -> bool:
    """Whether it is one for a long run, and this is none."""
    slow = item.get_closest_marker("gvisor") and not item.get_closest_marker("telling")
    return bool(slow) and not LONG


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if IN_CI:
        fail_instead_of_skipping(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if IN_CI:
        fail_instead_of_skipping(report)
    return report


def fail_instead_of_skipping(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"left out, and CI leaves nothing out: {reason_of(report)}"


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(report.longrepr)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = Counter(reason_of(report) for report in terminalreporter.getreports("skipped"))
    if not_for_me:
        switch = "sudo make test" if NOT_FOR_ME == "as_root" else "make test-user"
        reasons[f"meant for {WHO_IT_IS_FOR} (fix: {switch})"] = len(not_for_me)
    if not_this_time:
        switch = "HYPOTHESIS_PROFILE=long make test ARGS=…"
        reasons[f"meant for a long run (fix: {switch})"] = len(not_this_time)
    if not reasons:
        return
    terminalreporter.section("left out, why, and what would bring it in")
    for reason, count in reasons.most_common():
        why, _, fix = reason.rpartition(" (fix: ")
        terminalreporter.line(f"{count:4} x {why or fix}")
        if why:
            terminalreporter.line(f"       run: {fix.removesuffix(')')}")
