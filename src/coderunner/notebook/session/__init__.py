"""A live interpreter in a box: what one cell leaves, the next one finds.

session.py       Session
cell.py          one cell: interrupted if it takes too long
conversation.py  what is said to a kernel, and heard of it
messages.py      what a kernel has sent, read with care
collecting.py    from messages to what a cell has shown
result.py        CellResult
endings.py       what is said of a kernel that is no more
"""
