"""The service ends while sessions and WebSockets are open: nothing of them is left."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from tests.server.conftest import ServiceMaker
from tests.server.live.talking import closing_code, talking
from tests.server.sessions.opened import open_one, until
from tests.server.v1.boxes import Box, box_of

pytestmark = [pytest.mark.integration, pytest.mark.hostile]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left(serve: ServiceMaker, number: signal.Signals) -> None:
    service = serve(prestart=[], drain_seconds=1)
    boxes: list[Box] = []

    def marked(name: str) -> str:
        code, box = box_of(name)
        boxes.append(box)
        return code

    with ExitStack() as stack:
        talk = stack.enter_context(talking(service, marked("socket")))
        in_terminal = stack.enter_context(talking(service, marked("terminal"), terminal={}))
        idle, busy = open_one(service.client), open_one(service.client)
        idle.run(marked("idle").replace("child.wait()", ""))
        following(stack, lambda: busy.run(marked("busy")))
        for box in wait_until(lambda: boxes[:4] if len(boxes) == 4 else []):
            box.wait_until_there()
        assert service.end(number) == (0 if number == signal.SIGTERM else -number)
        for box in boxes:
            box.wait_until_gone()
        if number == signal.SIGTERM:
            assert (closing_code(talk), closing_code(in_terminal)) == (1012, 1012)


def test_a_cell_that_runs_is_waited_for(serve: ServiceMaker) -> None:
    service = serve(prestart=[], drain_seconds=30)
    session = open_one(service.client)
    with session.follow("print('up')\nimport time\ntime.sleep(1)\n6 * 7") as coming:
        until(coming, "stdout")
        service.process.send_signal(signal.SIGTERM)
        assert until(coming, "end")["result"]["value"]["text"] == "42"
    assert service.end() == 0


def following(stack: ExitStack, work: Callable[[], object]) -> None:
    """Its answer may never come."""

    def try_to() -> None:
        try:
            work()
        except Exception:
            return

    thread = threading.Thread(target=try_to)
    thread.start()
    stack.callback(thread.join)


def wait_until(found: Callable[[], list[Box]]) -> list[Box]:
    deadline = time.monotonic() + 30
    while not (boxes := found()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return boxes
