"""The caller's end of the line to a spawner: starts it, sends it jobs, hears how they ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from coderunner.cancelling import outlast
from coderunner.engines.linux.boxes import protocol
from coderunner.errors import WATCH_REMEDIES, EngineUnavailable, faults_of_the_machine
from coderunner.forks import dropped_in_children, no_fork

_START = "import sys; sys.path.insert(0, sys.argv[1]); from boxes.spawner import main; main()"
_HELLO_SECONDS = 20.0
_GOODBYE_SECONDS = 10.0

Answer = tuple[protocol.Message, list[int]]


class Spawner:
    """One spawner process and the jobs it has in hand. Lives in one event loop."""

    def __init__(self, process: subprocess.Popen[bytes], channel: socket.socket, log: int) -> None:
        self._process = process
        self._channel = channel
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._outbox: deque[tuple[int, bytes, Sequence[int]]] = deque()  # job, packet, fds
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._last_id = 0
        self._hello: asyncio.Future[Answer] = self._loop.create_future()
        self._gone: asyncio.Future[None] | None = None
        self.alive = True
        self.facts: protocol.Message = {}
        channel.setblocking(False)
        dropped_in_children(self)

    @classmethod
    async def launch(cls, *, compiled: bool) -> Spawner:
        """Start a spawner and wait until it has looked the machine over."""
        with faults_of_the_machine(), no_fork:
            spawner = cls._start(compiled)
        try:
            with faults_of_the_machine(WATCH_REMEDIES):
                spawner._loop.add_reader(spawner._channel, spawner._on_readable)
            await spawner._greet()
        except BaseException:
            await spawner.close()
            raise
        return spawner

    @classmethod
    def _start(cls, compiled: bool) -> Spawner:
        with contextlib.ExitStack() as undo:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undo.enter_context(ours)
            with theirs:
                log = os.memfd_create("coderunner-spawner-log", os.MFD_CLOEXEC)
                undo.callback(os.close, log)
                process = _launch(theirs.fileno(), log, compiled)
            undo.pop_all()
        return cls(process, ours, log)

    async def _greet(self) -> None:
        try:
            async with asyncio.timeout(_HELLO_SECONDS):  # (3.11's `wait_for` loses cancellations)
                message, _ = await self._hello
        except TimeoutError:
            raise EngineUnavailable(
                f"the sandbox's spawner did not answer within {_HELLO_SECONDS:.0f} s",
                hint="is the machine overloaded?",
            ) from None
        if message["op"] == "unusable":
            raise EngineUnavailable(
                f"the embedded sandbox cannot run here: {message['message']}", hint=message["hint"]
            )
        self.facts = message

    def start(
        self, message: protocol.Message, fds: Sequence[int]
    ) -> tuple[int, asyncio.Future[Answer]]:
        """Hand over a job; takes the descriptors. The future gets the spawner's answer."""
        self._last_id += 1
        number = self._last_id
        packet = protocol.encode({"op": "start", "id": number, **message})
        answer = self._answers[number] = self._loop.create_future()
        self._post(number, packet, fds)
        return number, answer

    async def ask(self, op: str, message: protocol.Message) -> bool:
        """About a warm interpreter: have it started, and wait until it is ready or cannot be
        ("warm"); whether there is one ("is_warm"); let go of it ("cool")."""
        self._last_id += 1
        answer = self._answers[self._last_id] = self._loop.create_future()
        packet = protocol.encode({"op": op, "id": self._last_id, **message})
        self._post(self._last_id, packet, ())
        said, _ = await answer
        return bool(said.get("ok"))

    def kill(self, number: int, reason: str) -> None:
        if self.alive and number in self._answers:
            message = {"op": "kill", "id": number, "reason": reason}
            self._post(number, protocol.encode(message), ())

    def signal(self, number: int, signal: int) -> None:
        if self.alive and number in self._answers:
            message = {"op": "signal", "id": number, "signal": signal}
            self._post(number, protocol.encode(message), ())

    def _post(self, number: int, packet: bytes, fds: Sequence[int]) -> None:
        self._outbox.append((number, packet, fds))
        if len(self._outbox) == 1:
            self._flush()

    def _flush(self) -> None:
        while self._outbox and self.alive:
            number, packet, fds = self._outbox[0]
            try:
                protocol.send(self._channel, packet, fds)
            except BlockingIOError:
                self._loop.add_writer(self._channel, self._flush)
                return
            except ConnectionError:
                self._on_death()
                return
            except OSError as error:
                # As when this user has too many descriptors on their way: that job's trouble.
                self._fail(number, error)
            self._outbox.popleft()
            _close_all(fds)
        self._loop.remove_writer(self._channel)

    def _fail(self, number: int, error: OSError) -> None:
        answer = self._answers.pop(number, None)
        if answer is not None and not answer.done():
            failure = {"op": "failed", "kind": "engine", "message": str(error.strerror)}
            answer.set_result((failure, []))

    def _on_readable(self) -> None:
        with no_fork:
            try:
                received = protocol.receive(self._channel)
            except BlockingIOError:
                return
            except OSError:
                received = None
            if received is None:
                self._on_death()
            else:
                self._deliver(received)

    def _deliver(self, received: Answer) -> None:
        message, fds = received
        future = self._answers.pop(message["id"], None) if "id" in message else self._hello
        if future is None or future.done():
            _close_all(fds)
        else:
            future.set_result(received)

    def _on_death(self) -> None:
        """The line is dead: whoever waits for an answer will not get one."""
        if not self.alive:
            return
        waiting = [self._hello, *self._answers.values()]
        self._answers.clear()
        if self._loop.is_closed():
            waiting = []  # nobody can wait in there any more
        else:
            self._loop.remove_reader(self._channel)
            self._loop.remove_writer(self._channel)
        self._hang_up()
        for future in waiting:
            if not future.done():
                future.set_exception(self._death())
                future.exception()  # nobody may be waiting for the hello any more

    def _hang_up(self) -> None:
        self.alive = False
        self._channel.close()
        for _, _, fds in self._outbox:
            _close_all(fds)
        self._outbox.clear()

    def drop(self) -> None:
        self._hang_up()
        self._close_log()
        self._process.returncode = 0  # it is not ours to wait for

    def _close_log(self) -> None:
        log, self._log = self._log, -1
        if log >= 0:
            os.close(log)

    def _death(self) -> EngineUnavailable:
        size = os.fstat(self._log).st_size
        last_words = os.pread(self._log, 4096, max(0, size - 4096)).decode(errors="replace").strip()
        detail = f": {last_words.splitlines()[-1]}" if last_words else ""
        return EngineUnavailable(
            f"the sandbox's spawner died in mid-run{detail}",
            hint="run it again: the next run starts a new spawner",
        )

    async def close(self) -> None:
        """End all boxes and the spawner; when this returns, nothing of them is left."""
        self._on_death()
        if self._gone is None:
            self._gone = asyncio.get_running_loop().create_future()
            self._reap(self._gone)
        await outlast(self._gone)

    def _reap(self, gone: asyncio.Future[None], pause: float = 0.001, waited: float = 0.0) -> None:
        # It leaves as soon as its boxes are dead; asking is simpler than a child watcher. And no
        # task asks, since a task may be cancelled.
        if self._process.poll() is not None:
            self._close_log()
            gone.set_result(None)
            return
        if waited > _GOODBYE_SECONDS:
            self._process.kill()
        longer = min(0.05, pause * 2)
        gone.get_loop().call_later(pause, self._reap, gone, longer, waited + pause)


def _launch(channel: int, log: int, compiled: bool) -> subprocess.Popen[bytes]:
    # No site, no environment: the spawner must import the standard library and no more.
    words = [str(Path(__file__).parent), *([] if compiled else ["--interpreted"])]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-c", _START, *words],
        stdin=channel,
        stdout=subprocess.DEVNULL,
        stderr=log,
        env={"LANG": "C.UTF-8"},
        cwd="/",
        start_new_session=True,  # Ctrl-C is for the caller to handle
    )


def _close_all(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)
