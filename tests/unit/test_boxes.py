"""The parts of the spawner that can be tried without a box."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderunner.engines.linux import boxes
from coderunner.engines.linux.boxes import protocol, rootfs, seccomp, syscalls

pytestmark = pytest.mark.unit

MACHINES = ["x86_64", "aarch64"]


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.text())))
def test_a_message_comes_out_as_it_went_in(fields: dict[str, object]) -> None:
    message = {**fields, "op": "start"}
    assert protocol.decode(protocol.encode(message)) == message


def test_a_message_that_does_not_fit_is_refused() -> None:
    with pytest.raises(protocol.PacketTooLarge):
        protocol.encode({"op": "start", "argv": ["x" * protocol.MAX_PACKET]})


@pytest.mark.parametrize("packet", [b"[]", b"{}", b'{"op": 1}', b"nonsense", b"\xff"])
def test_what_is_no_message_is_refused(packet: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any kind of it
        protocol.decode(packet)


def test_descriptors_travel_and_are_not_inherited() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        reader, writer = os.pipe()
        protocol.send(ours, protocol.encode({"op": "x"}), [writer])
        received = protocol.receive(theirs)
        assert received is not None
        message, [fd] = received
        assert message == {"op": "x"}
        assert not os.get_inheritable(fd)
        os.write(fd, b"hi")
        assert os.read(reader, 2) == b"hi"
        for each in (reader, writer, fd):
            os.close(each)
        ours.close()
        assert protocol.receive(theirs) is None


@pytest.mark.parametrize("machine", MACHINES)
def test_no_two_calls_share_a_number(machine: str) -> None:
    numbers = syscalls.numbers(machine)
    assert len(set(numbers.values())) == len(numbers)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("metered", [True, False])
def test_every_jump_of_the_filter_lands_inside_it(machine: str, metered: bool) -> None:
    program = seccomp.build(machine, metered=metered)
    instructions = list(struct.iter_unpack("<HBBI", program))
    assert len(instructions) < 4096  # the kernel takes no more
    for place, (code, if_true, if_false, _) in enumerate(instructions):
        if code in (0x15, 0x35, 0x45):
            assert place + 1 + max(if_true, if_false) < len(instructions)
    assert instructions[-1][0] == 0x06


DANGEROUS = [
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "ptrace",
    "bpf",
    "kexec_load",
    "init_module",
    "reboot",
    "process_vm_writev",
    "keyctl",
    "add_key",
    "request_key",
    "perf_event_open",
    "userfaultfd",
    "open_by_handle_at",
    "setgroups",
    "capset",
    "fsopen",
    "fsmount",
    "move_mount",
    "open_tree",
    "pidfd_getfd",
    "seccomp",
    "iopl",
]


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_dangerous_is_not_in_the_table(machine: str) -> None:
    assert not set(DANGEROUS) & set(syscalls.numbers(machine))


@given(st.lists(st.text(min_size=1, alphabet="ab_/x"), unique=True, max_size=8))
def test_no_two_targets_share_a_place(names: list[str]) -> None:
    targets = {os.path.normpath(f"/tmp/{name}") for name in names}
    assert len({rootfs.place_of(target) for target in targets}) == len(targets)


@pytest.mark.parametrize(
    ("target", "staged"),
    [("/usr/x", False), ("/tmpx", False), ("/tmp/x", True), ("/var/tmp/x", True), ("/tmp", True)],
)
def test_only_what_a_box_covers_is_staged(target: str, staged: bool) -> None:
    assert (rootfs.place_of(target) != target) == staged


def test_the_spawner_imports_nothing_but_the_standard_library() -> None:
    folder = Path(boxes.__file__).parent.parent
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import boxes.spawner; "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    shown = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(shown.stdout.split()) - {"boxes", "__main__"}
    assert loaded <= set(sys.stdlib_module_names)
