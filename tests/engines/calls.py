"""Making system calls by number in a box, to see what the filter lets through."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from tests.engines.bench import Bench

# An argument of None is a null pointer; whole numbers may get junk in their upper halves.
Call = tuple[int, Sequence[int | None]]

# Reads calls from stdin, makes one after the other and prints the errno of each, 0 for none. With
# `fork` each is made in a child, since it may never return: the signal that ended it, negated.
_CALLER = """
import ctypes, json, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)

def make(number, args):
    six = [*args, *[None] * 6][:6]
    done = libc.syscall(ctypes.c_ulong(number), *(ctypes.c_ulong(arg or 0) for arg in six))
    return ctypes.get_errno() if done == -1 else 0

def make_in_child(number, args):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        me = os.getpid()
        signal.setitimer(signal.ITIMER_REAL, 0.5)  # for those that wait
        answer = make(number, args)
        if os.getpid() == me:
            os.write(writer, bytes([answer]))
        os._exit(0)
    os.close(writer)
    said = os.read(reader, 1)
    os.close(reader)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said[0] if said else min(0, code)

fork, calls = json.load(sys.stdin)
print(json.dumps([(make_in_child if fork else make)(*call) for call in calls]))
"""


async def answers(bench: Bench, calls: Iterable[Call], *, fork: bool = False) -> list[int]:
    """The errno of each call, 0 where it worked; with `fork` also -N where signal N came of it."""
    stdin = json.dumps([fork, list(calls)]).encode()
    outcome = await bench.python(_CALLER, stdin=stdin)
    assert outcome.ok, (outcome, outcome.stderr.text)
    found: list[int] = json.loads(outcome.stdout.text)
    return found
