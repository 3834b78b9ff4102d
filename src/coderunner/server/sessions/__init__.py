"""Sessions that clients have opened: an interpreter each, which stays until it is not needed.

store.py         whose they are, how many, and when they end
open_session.py  one of them: one thing at a time
"""
