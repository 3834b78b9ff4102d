"""Sessions over HTTP: an interpreter that stays, and cells that are run in it.

routes.py        /v1/sessions
shapes.py        what comes in and goes out
store.py         whose they are, how many, and when they end
open_session.py  one of them
cells.py         one cell, for whoever waits for it or follows it
"""
