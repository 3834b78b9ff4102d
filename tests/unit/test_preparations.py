"""What is made once: when it is waited for, made meanwhile, or done without."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coderunner import EngineUnavailable, File, Program, Runner, Settings, preparing
from coderunner.engines.fake import FakeEngine, Pause, Script
from coderunner.model import Job
from coderunner.notices import in_lines

pytestmark = pytest.mark.unit

LANGUAGE = """
name = "prep"
title = "Prep"
extensions = [".prp"]
source = "main.prp"
compile = ["{cc}", "-fast={thing}", "-o", "program", "{main}"]
compile_env = { THING = "{thing}", OTHER = "1" }
artifacts = ["program"]
run = ["./program"]
version = ["{cc}"]
hello = "hi"
[prepare.thing]
target = "/prepared/thing"
argv = ["{make}", "{cc}"]
OPTIONS
[scripts]
make = "make it"
[tools.cc]
names = ["true"]
"""
PROGRAM = Program("prep", (File("main.prp", b"x"),))
OPTIONAL = "optional = true\nread_only = true"


class Machine:
    """A runner of a language with one preparation, and what it made of it."""

    def __init__(
        self, folder: Path, options: str, made: Script | None = None, *, make: str = "make it"
    ) -> None:
        languages = folder / "languages"
        languages.mkdir(exist_ok=True)
        (languages / "prep.toml").write_text(
            LANGUAGE.replace("OPTIONS", options).replace("make it", make)
        )
        self.made = made or Script(files=(File("prepared/x", b"1"),))
        self.preparing: list[Job] = []
        self.compiling: list[Job] = []
        self.running: list[Job] = []
        self.notices: list[str] = []
        settings = Settings(languages_dir=languages, cache_dir=folder / "cache")
        self.runner = Runner(
            FakeEngine(self._script), settings=settings, notice=in_lines(self.notices.append)
        )

    def _script(self, job: Job) -> Script:
        if job.argv[0].startswith("make it"):
            self.preparing.append(job)
            return self.made
        (self.running if job.argv[0] == "./program" else self.compiling).append(job)
        return Script(files=(File("program", b""),))

    async def run(self, times: int = 1) -> None:
        for _ in range(times):
            await self.runner.run(PROGRAM)

    async def until_prepared(self) -> None:
        for _ in range(4000):
            if any(self.kept()):
                return
            await asyncio.sleep(0.005)
        raise AssertionError("nothing was prepared")

    def kept(self) -> Iterator[Path]:
        found = self.runner.settings.cache_dir.glob("prepared/*")
        return (path for path in found if "." not in path.name)


async def test_what_is_needed_is_made_before_the_first_use(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "")
    await machine.run(2)
    assert len(machine.preparing) == 1
    for job in machine.compiling:
        assert job.argv[1] == "-fast=/prepared/thing"
        assert job.env["THING"] == "/prepared/thing"
        assert [(mount.target, mount.scratch) for mount in job.mounts] == [
            ("/prepared/thing", True)
        ]


async def test_it_is_only_shown_to_commands_that_name_it(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "")
    await machine.run()
    assert machine.running[0].mounts == ()


async def test_a_failure_to_make_what_is_needed_is_an_error(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "", Script(exit_code=3, stderr=b"no such thing"))
    with pytest.raises(EngineUnavailable, match="no such thing"):
        await machine.run()
    assert list(machine.kept()) == []


async def test_one_use_does_not_make_what_is_optional(tmp_path: Path) -> None:
    machine = Machine(tmp_path, OPTIONAL)
    async with machine.runner:
        await machine.run()
        await asyncio.sleep(0.05)
    assert (machine.preparing, machine.notices) == ([], [])
    (job,) = machine.compiling
    assert job.argv[1:] == ("-o", "program", "main.prp")
    assert "THING" not in job.env
    assert job.env["OTHER"] == "1"
    assert job.mounts == ()


async def test_the_second_use_makes_it_meanwhile(tmp_path: Path) -> None:
    machine = Machine(tmp_path, OPTIONAL)
    async with machine.runner:
        await machine.run(2)
        assert "-fast=/prepared/thing" not in machine.compiling[1].argv
        await machine.until_prepared()
        await machine.run()
    assert len(machine.preparing) == 1
    assert machine.notices == ["preparing Prep (thing), once …"]
    last = machine.compiling[2]
    assert last.argv[1] == "-fast=/prepared/thing"
    assert [(mount.target, mount.scratch) for mount in last.mounts] == [("/prepared/thing", False)]
    assert (last.mounts[0].source / "x").read_bytes() == b"1"


async def test_nobody_waits_for_it(tmp_path: Path) -> None:
    machine = Machine(tmp_path, OPTIONAL, Script(steps=(Pause(60_000),)))
    async with asyncio.timeout(20), machine.runner:
        await machine.run(5)
        assert len(machine.preparing) <= 1
    assert list(machine.runner.settings.cache_dir.glob("prepared/*")) == []


async def test_it_is_tried_once_and_then_done_without(tmp_path: Path) -> None:
    machine = Machine(tmp_path, OPTIONAL, Script(exit_code=1, stderr=b"out of luck"))
    async with machine.runner:
        for _ in range(4):
            await machine.run()
            await asyncio.sleep(0.02)
    assert len(machine.preparing) == 1
    assert len(machine.compiling) == 4
    assert machine.notices[-1].startswith("going on without Prep (thing): ")
    assert "out of luck" in machine.notices[-1]


async def test_who_asks_for_it_has_it_at_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path, OPTIONAL)
    await machine.runner.prepare("prep")
    await machine.run()
    assert machine.compiling[0].argv[1] == "-fast=/prepared/thing"
    await machine.runner.prepare("prep")
    assert len(machine.preparing) == 1


async def test_who_asks_for_it_is_told_of_a_failure(tmp_path: Path) -> None:
    machine = Machine(tmp_path, OPTIONAL, Script(exit_code=1, stderr=b"out of luck"))
    with pytest.raises(EngineUnavailable, match="out of luck"):
        await machine.runner.prepare("prep")


async def test_one_that_is_cancelled_while_it_is_copied_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, copying, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def slowly(fd: int, target: Path) -> None:
        loop.call_soon_threadsafe(copying.set)
        go_on.wait(30)
        target.mkdir(parents=True)

    monkeypatch.setattr(preparing, "_copy_out", slowly)
    machine = Machine(tmp_path, OPTIONAL)
    preparation = asyncio.create_task(machine.runner.prepare("prep"))
    await copying.wait()
    preparation.cancel()
    await asyncio.wait({preparation}, timeout=0.05)  # which it is not to be done in
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await preparation
    await machine.runner.aclose()
    await loop.shutdown_default_executor()  # in case it has not waited for it
    assert list((tmp_path / "cache" / "prepared").iterdir()) == []


async def test_a_full_disk_is_told_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: str, target: str) -> None:
        Path(target).write_bytes(b"as much as there was room for")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), source)

    monkeypatch.setattr(shutil, "copy2", full)
    machine = Machine(tmp_path, "")
    kept = tmp_path / "cache" / "prepared"
    with pytest.raises(EngineUnavailable) as caught:
        await machine.run()
    assert caught.value.message == f"cannot keep anything in {kept}: No space left on device"
    assert "CODERUNNER_CACHE_DIR" in caught.value.hint
    assert list(kept.iterdir()) == []


async def test_two_that_make_it_at_once_both_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_out = preparing._copy_out
    fast, slow = Machine(tmp_path, ""), Machine(tmp_path, "")

    def overtaken(fd: int, target: Path) -> None:
        monkeypatch.setattr(preparing, "_copy_out", copy_out)
        asyncio.run(fast.run())  # in this thread, between a look and the next
        copy_out(fd, target)

    monkeypatch.setattr(preparing, "_copy_out", overtaken)
    await slow.run()
    for machine in (fast, slow):
        assert len(machine.preparing) == 1
        assert machine.compiling[0].argv[1] == "-fast=/prepared/thing"
    assert len(list((tmp_path / "cache" / "prepared").iterdir())) == 1


async def test_a_cache_in_which_something_is_in_the_way(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "")
    await machine.run()
    (place,) = machine.kept()
    shutil.rmtree(place)
    place.write_bytes(b"")
    with pytest.raises(EngineUnavailable, match="cannot keep anything in"):
        await machine.run()


async def test_another_runner_finds_it(tmp_path: Path) -> None:
    await Machine(tmp_path, OPTIONAL).runner.prepare("prep")
    later = Machine(tmp_path, OPTIONAL)
    await later.run()
    assert later.compiling[0].argv[1] == "-fast=/prepared/thing"


async def test_a_changed_header_makes_it_anew_and_the_old_one_goes(tmp_path: Path) -> None:
    header = tmp_path / "header.h"
    header.write_text("one")
    options = f'{OPTIONAL}\nwatch = ["{tmp_path}/*.h"]'
    await Machine(tmp_path, options).runner.prepare("prep")
    (before,) = Machine(tmp_path, options).kept()
    header.write_text("another")
    later = Machine(tmp_path, options)
    await later.run()
    assert "-fast=/prepared/thing" not in later.compiling[0].argv
    await later.runner.prepare("prep")
    (after,) = later.kept()
    assert before != after


async def test_a_changed_script_makes_it_anew(tmp_path: Path) -> None:
    await Machine(tmp_path, OPTIONAL).runner.prepare("prep")
    later = Machine(tmp_path, OPTIONAL, make="make it otherwise")
    await later.run()
    assert "-fast=/prepared/thing" not in later.compiling[0].argv


async def test_what_nobody_used_for_a_month_goes(tmp_path: Path) -> None:
    kept = tmp_path / "cache" / "prepared"
    kept.mkdir(parents=True)
    for name, days in {"other-x-1-1": 31, "other-y-1-1": 29}.items():
        (kept / name).mkdir()
        when = time.time() - days * 24 * 3600
        os.utime(kept / name, (when, when))
    machine = Machine(tmp_path, OPTIONAL)
    await machine.runner.prepare("prep")
    assert sorted(path.name.split("-")[1] for path in machine.kept()) == ["thing", "y"]


async def test_use_keeps_it_from_being_forgotten(tmp_path: Path) -> None:
    machine = Machine(tmp_path, OPTIONAL)
    await machine.runner.prepare("prep")
    (place,) = machine.kept()
    os.utime(place, (1, 1))
    await machine.run()
    assert place.stat().st_mtime > time.time() - 3600


@pytest.mark.as_root
async def test_one_that_somebody_else_put_there_is_not_used(tmp_path: Path) -> None:
    machine = Machine(tmp_path, OPTIONAL)
    await machine.runner.prepare("prep")
    (place,) = machine.kept()
    os.chown(place, 12345, 12345)
    await machine.run()
    assert machine.compiling[0].mounts == ()
