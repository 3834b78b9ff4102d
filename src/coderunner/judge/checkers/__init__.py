"""Who says whether an output is right.

text.py      normalized (the default), exact, ignoring case, lines in any order
tokens.py    word by word, numbers with a tolerance
regex.py     a pattern that the output must match
program.py   a program of the problem's author, in a sandbox of its own
opened.py    what all of them are when a test asks
"""
