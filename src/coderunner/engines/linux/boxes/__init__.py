"""The inside of the embedded engine: a small process that makes boxes and nothing else.

Theory of operation
-------------------
The caller may be a server with threads and gigabytes of memory, which must never fork. So it
starts one *spawner* (`spawner.py`): a single-threaded Python process with almost nothing imported,
which talks to the caller over a socket (`protocol.py`).

For each job the spawner makes a cgroup (`cgroups.py`, in a place found by `cgroup_place.py`) and an
empty tmpfs, then clones itself into new pid, network, ipc and uts namespaces (`making.py`). The
clone (`box.py`) is process 1 of its own world. It enters a prepared root file system
(`rootfs.py`), adds what is its own, moves into the cgroup, gives up every privilege
(`identity.py`), walls itself in (`landlock.py`, `seccomp.py`), checks in the mirror that all of
this holds, and only then starts the program. When process 1 ends, the kernel kills whatever is
left of the box.

Deadlines and meters are the spawner's business, so they hold however busy or dead the caller is.
When the caller's end of the socket closes, the spawner ends all boxes and itself. When the spawner
dies, the kernel kills its boxes (PDEATHSIG).

An ordinary user's spawner first moves into a user namespace in which it may do all this; from
there on both kinds take the same road.

This package imports nothing but the standard library and itself, with relative imports: the
spawner loads it under its short name, without the rest of CodeRunner.
"""
