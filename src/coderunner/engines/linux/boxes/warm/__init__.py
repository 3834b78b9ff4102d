"""Warm interpreters: a Python that has started already, from which boxes are forked.

    spawner ── order, descriptors ──▶ interpreter ── fork ──▶ process 1 ── fork ──▶ the program
       ▲                              (`server.py`)           (`inside.py`)            │
       └───────────── ready, and later the job, over the box's own channel ────────────┘

The interpreter is started exactly as a program's is: `python main.py`, with the program's
environment, in the program's file system. But the first thing it finds to run, at the end of its
own start, is our hook (`hook/sitecustomize.py`). The hook never returns there; it imports what
programs are likely to import, waits for orders, and forks. In the fork that becomes a program it
does return, and the interpreter goes on as if nothing had happened: to reading `main.py`.

So there is no frame of ours below the program, and everything from `sys.path[0]` to what is
printed of an uncaught error is the interpreter's own doing. What was imported ahead is hidden
until the program imports it (`preload.py`).

An interpreter never learns what its forks are to run: a job goes from the spawner to the fork.
"""
