from __future__ import annotations

import asyncio
import threading

import pytest

from coderunner import AsyncClient, Client, InvalidInput, Stream
from coderunner.notebook import Session
from tests.server.conftest import Service

pytestmark = pytest.mark.integration
CELLS = ["x = 6", "print('schön'); x * 7", "1 / 0", "raise SystemExit(3)"]
PICTURE = """
from IPython.display import display, Image
display(Image(data=bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c626001000000ffff030000060005577fabd40000000049454e44ae426082")))
"""


def test_the_same_as_a_session_here(client: Client) -> None:
    with client.session() as there, Session() as here:
        for code in [*CELLS, PICTURE]:
            far = there.execute(code).model_copy(update={"duration_ms": 0})
            near = here.execute(code).model_copy(update={"duration_ms": 0})
            assert far == near
    assert near.images


def test_live_output(client: Client) -> None:
    heard: list[tuple[Stream, str]] = []
    with client.session() as session:
        code = "import sys; print('é\\ufffd'); print('err', file=sys.stderr); 5"
        result = session.execute(code, on_output=lambda *told: heard.append(told))
    texts = {s: "".join(text for one, text in heard if one is s) for s in Stream}
    assert texts == {Stream.STDOUT: "é\ufffd\n", Stream.STDERR: "err\n"}
    assert (result.stdout, result.value and result.value.text) == ("é\ufffd\n", "5")


def test_interrupted_from_another_thread(client: Client) -> None:
    with client.session() as session:
        session.execute("kept = 1")

        def interrupt(stream: Stream, text: str) -> None:
            threading.Thread(target=session.interrupt).start()

        code = "print('now', flush=True)\nwhile True: pass"
        result = session.execute(code, on_output=interrupt)
        assert result.error is not None
        assert result.error.name == "KeyboardInterrupt"
        assert session.execute("kept").success
        session.restart()
        assert not session.execute("kept").success


def test_limits_of_a_session(client: Client) -> None:
    with client.session(timeout=1, idle_seconds=60) as session:
        result = session.execute("while True: pass")
        assert result.error is not None
        assert result.error.type == "timeout"


def test_a_session_that_is_closed(client: Client) -> None:
    session = client.session()
    assert session.execute("1 + 1").success  # the first cell has started it
    session.close()
    session.close()
    with pytest.raises(InvalidInput, match="closed"):
        session.execute("1")


async def test_with_asyncio(service: Service) -> None:
    async with AsyncClient(service.url) as client, client.session() as session:
        await session.execute("kept = 1")
        begun = asyncio.Event()
        code = "print('begun', flush=True)\nwhile True: pass"
        endless = asyncio.create_task(session.execute(code, on_output=lambda *told: begun.set()))
        await begun.wait()
        endless.cancel()
        with pytest.raises(asyncio.CancelledError):
            await endless
        result = await session.execute("kept")
        assert result.success
