"""A Jupyter kernel in a box, reachable as if it were outside.

boxed.py        the job: how it is started, told things, and ended
multiplexer.py  many connections over the two pipes of a job
listeners.py    the sockets that Jupyter clients connect to
command.py      what a kernelspec asks for, and what of this machine it needs to see
provisioner.py  all of that for jupyter_client: JupyterLab, nbclient, papermill
"""
