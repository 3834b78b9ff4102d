# Writes to the files in /proc that change a process: all of it concerns only itself.
# limits: wall_ms=5000
# ends: exit 0

import contextlib

for name in ("coredump_filter", "timerslack_ns", "clear_refs", "autogroup", "comm", "mem"):
    for text in (b"0", b"-1", b"1", b"\xff" * 4096):
        with contextlib.suppress(OSError), open(f"/proc/self/{name}", "wb", buffering=0) as file:
            file.write(text)
