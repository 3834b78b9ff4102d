"""The root of all workspaces of a process, and what the dead leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from coderunner.workspace.root import make_root, sweep

pytestmark = pytest.mark.unit

MAKE_A_WORKSPACE = """
import sys
from coderunner.workspace import Workspace
workspace = Workspace()
print(workspace.path, flush=True)
sys.stdin.read()
"""


def start_owner(temp: Path) -> tuple[subprocess.Popen[str], Path]:
    owner = subprocess.Popen(
        [sys.executable, "-c", MAKE_A_WORKSPACE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temp), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert owner.stdout is not None
    path = Path(owner.stdout.readline().strip())
    assert path.is_dir()
    assert path.parent.parent == temp
    return owner, path


def end(owner: subprocess.Popen[str], how: signal.Signals | None) -> None:
    if how is None:
        owner.communicate(timeout=10)
    else:
        owner.send_signal(how)
        owner.communicate(timeout=10)


def test_a_normal_end_leaves_nothing(tmp_path: Path) -> None:
    owner, _ = start_owner(tmp_path)
    end(owner, None)
    assert os.listdir(tmp_path) == []


def test_leftovers_of_a_killed_process_go_at_the_next_start(tmp_path: Path) -> None:
    alive, path_of_alive = start_owner(tmp_path)
    killed, path_of_killed = start_owner(tmp_path)
    (path_of_killed / "deep" / "er").mkdir(parents=True)
    end(killed, signal.SIGKILL)
    assert path_of_killed.exists()
    next_one, path_of_next = start_owner(tmp_path)
    assert not path_of_killed.parent.exists()
    assert path_of_alive.exists()
    assert path_of_next.exists()
    end(alive, None)
    end(next_one, None)
    assert os.listdir(tmp_path) == []


def test_the_sweep_touches_only_its_own(tmp_path: Path) -> None:
    prefix = f"coderunner-{os.geteuid()}-"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    (tmp_path / f"{prefix}link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / f"{prefix}file").touch()
    (tmp_path / f"coderunner-{os.geteuid() + 1}-other").mkdir()
    (tmp_path / f"{prefix}dead").mkdir()
    (tmp_path / f"{prefix}dead" / "leftover").touch()
    sweep(tmp_path)
    assert not (tmp_path / f"{prefix}dead").exists()
    assert len(os.listdir(tmp_path)) == 4
    assert (tmp_path / "elsewhere" / "file").exists()


@pytest.mark.as_root
def test_the_sweep_leaves_directories_of_others_alone(tmp_path: Path) -> None:
    foreign = tmp_path / f"coderunner-{os.geteuid()}-foreign"
    foreign.mkdir()
    os.chown(foreign, 12345, 12345)
    sweep(tmp_path)
    assert foreign.exists()


def test_processes_that_start_at_once_do_not_sweep_each_other(tmp_path: Path) -> None:
    made, failures = [], []
    stop = threading.Event()

    def sweep_on() -> None:
        while not stop.is_set():
            sweep(tmp_path)

    sweeper = threading.Thread(target=sweep_on)
    sweeper.start()
    try:
        for _ in range(300):
            root = make_root(tmp_path)
            made.append(root)
            if not root.path.is_dir():
                failures.append(root.path)
    finally:
        stop.set()
        sweeper.join()
    failures += [root.path for root in made if not root.path.is_dir()]
    assert failures == []
    for root in made:
        root.remove()
    assert os.listdir(tmp_path) == []


def test_a_forked_child_has_a_root_of_its_own(tmp_path: Path) -> None:
    script = (
        "import os\n"
        "from coderunner.workspace import Workspace\n"
        "mine = Workspace()\n"
        "if os.fork() == 0:\n"
        "    other = Workspace()\n"
        "    assert other.path.parent != mine.path.parent\n"
        "    raise SystemExit\n"
        "assert os.wait()[1] == 0\n"
        "assert mine.path.is_dir()\n"
    )
    environ = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script], env=environ, check=True, timeout=20)
    assert os.listdir(tmp_path) == []
