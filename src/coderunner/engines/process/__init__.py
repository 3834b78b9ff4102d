"""The engine for machines that can build no box: ordinary processes with limits.

    engine.py      ProcessEngine: starts a supervisor per job
    running.py     the caller's side of a running job
    scratch.py     the job's own copies of its files
    supervisor.py  the process between us and the program: limits it, watches it, ends it

Not a security boundary. The program runs as the caller's own user and can read and write whatever
that user can; its network is the machine's. What it is good for: programs that are trusted but
may run away.
"""

from __future__ import annotations

from coderunner.engines.process.engine import ProcessEngine

__all__ = ["ProcessEngine"]
