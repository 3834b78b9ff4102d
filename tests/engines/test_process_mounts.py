"""The process engine: mounts without a mount namespace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coderunner.engines.process.scratch import Scratch
from coderunner.model import Job, Mount
from tests.engines.process_runs import Run

pytestmark = pytest.mark.engines


async def test_mounts_are_shown_at_their_source(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("content")
    mounts = (Mount(tmp_path, "/box/tools"),)
    ended, out, _ = await run.shell(
        "cat $TOOLS/tool; echo $MORE",
        mounts=mounts,
        env={"TOOLS": "/box/tools", "MORE": "/x:/box/tools/bin:/not/box/tools:/box/toolsmith"},
    )
    assert out.text == f"content/x:{tmp_path}/bin:/not/box/tools:/box/toolsmith\n", ended
    _, out, _ = await run("/bin/cat", "/box/tools/tool", mounts=mounts)
    assert out.text == "content"


async def test_what_is_written_to_a_scratch_mount_is_thrown_away(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "old").write_text("old")
    ended, out, _ = await run.shell(
        "cat $CACHE/old; echo new > $CACHE/new; echo changed > $CACHE/old",
        mounts=(Mount(tmp_path / "cache", "/cache", scratch=True),),
        env={"CACHE": "/cache"},
    )
    assert (ended.exit_code, out.data) == (0, b"old")
    assert os.listdir(tmp_path / "cache") == ["old"]
    assert (tmp_path / "cache" / "old").read_text() == "old"


def test_the_most_specific_mount_wins(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    mounts = (Mount(Path("/one"), "/a"), Mount(Path("/two"), "/a/b"))
    scratch = Scratch()
    try:
        job = Job(("/a/x", "/a/b/y", "--into=/a", "/ab"), tmp_path / "w", mounts=mounts)
        scratch.fill(job)
        assert scratch.argv(job) == ["/one/x", "/two/y", "--into=/one", "/ab"]
    finally:
        scratch.remove()
