"""Sessions over HTTP: an interpreter that stays, and cells that are run in it.

routes.py  /v1/sessions
shapes.py  what comes in and goes out
order.py   what was asked for, checked
cells.py   one cell, followed while it runs
"""
