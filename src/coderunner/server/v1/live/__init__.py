"""`GET /v1/live`, a WebSocket: a program that somebody talks to while it runs.

route.py     who may have one, and what ends it
messages.py  what a client says
talk.py      one run: what is said to it, and what it says
"""
