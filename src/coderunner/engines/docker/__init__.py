"""Containers, fresh for every job or used again, on a Docker daemon near or far.

engine.py       DockerEngine: starts jobs
daemon.py       the connection, and what is asked of it
hijacked.py     the streams it gives, for a caller's own containers as well
launching.py    starts containers, of the kind that a job needs
hardening.py    what every container is made with
profile.py      the system-call filter, as Docker wants it
warden/         the first process of every container, in C
delivery.py     how it gets into them
order.py        what it is told
frames.py       how it is told, and what it says
line.py         a stream of a container's, both ways
inbox.py        what a program has written, until somebody takes it
container.py    both lines, and the job in hand
spares.py       containers that have started already
pool.py         containers that were used, and are used again
running.py      one job in its container
returned.py     the files that come back
images.py       which image, and whether it is there
tools.py        where an image has its compilers and interpreters
leftovers.py    what others have left behind
"""

from __future__ import annotations

from coderunner.engines.docker.engine import DockerEngine

__all__ = ["DockerEngine"]
