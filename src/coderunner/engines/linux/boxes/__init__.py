"""The inside of the embedded engine: a small process that makes boxes and nothing else.

Theory of operation
-------------------
The caller may be a server with threads and gigabytes of memory, which must never fork. So it
starts one *spawner* (`spawner.py`): a single-threaded Python process with almost nothing imported,
which talks to the caller over a socket (`protocol.py`).

A *box* is made for a kind of job: a set of host paths to show, and limits. The spawner makes a
cgroup (`cgroups.py`, in a place found by `cgroup_place.py`) and an empty tmpfs, then starts
process 1 in a new pid namespace (`making.py`) and hands it a plan (`plan.py`): a list of system
calls. With them process 1 enters a prepared root file system (`rootfs.py`) and a network of its
own, moves into the cgroup, gives up every privilege (`identity.py`), walls itself in
(`landlock.py`, `seccomp.py`), and checks in the mirror that all of this holds; `stages.py` has
this in order. Then it says that it is ready. Process 1 is compiled (`process1.c`); where that could
not be done, it is a clone of the spawner and does the same in Python (`inside.py`).

When the box (`box.py`) has a job, the spawner copies the job's files into the tmpfs and hands over
command and pipes; process 1 starts the program and waits for it. The spawner watches clock and
meters meanwhile (`run.py`, `sampling.py`). When process 1 ends, the kernel kills whatever is left.
Each box is used once. Kinds that are asked for again and again have a few ready (`spares.py`).

Deadlines and meters are the spawner's business, so they hold however busy or dead the caller is.
When the caller's end of the socket closes, the spawner ends all boxes and itself. When the spawner
dies, the kernel kills its boxes (PDEATHSIG).

An ordinary user's spawner first moves into a user namespace in which it may do all this; from
there on both kinds take the same road.

This package imports nothing but the standard library and itself, with relative imports: the
spawner loads it under its short name, without the rest of CodeRunner.
"""
