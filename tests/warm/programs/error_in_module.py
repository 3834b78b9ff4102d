# An error in a module of the program: the import system's own frames are not shown.
import sys

with open("broken.py", "w") as file:
    file.write("import json\n\ndef f():\n    json.loads('nope')\n\nf()\n")
import broken
