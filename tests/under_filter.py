"""Runs a command under a system-call filter, to play a host on which some calls fail.

python tests/under_filter.py INSTRUCTIONS COMMAND …      INSTRUCTIONS: BPF, in hex
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_NO_NEW_PRIVS, _SECCOMP, _FILTER = 38, 22, 2


def main() -> None:
    instructions = bytes.fromhex(sys.argv[1])
    code = ctypes.create_string_buffer(instructions)
    size, place = len(instructions) // 8, ctypes.addressof(code)
    program = ctypes.create_string_buffer(struct.pack("<Hxxxxxxq", size, place))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)
    for call in ((_NO_NEW_PRIVS, 1, 0), (_SECCOMP, _FILTER, ctypes.addressof(program))):
        if prctl(*call, 0, 0) != 0:
            sys.exit(f"prctl({call[0]}): {os.strerror(ctypes.get_errno())}")
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
