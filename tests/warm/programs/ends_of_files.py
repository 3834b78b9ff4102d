# What was written, and never closed or flushed, is in the files once the interpreter has ended.
import io
import json
import os
import tempfile


class Deep:
    kept = []


def name(number):
    return f"{number}.txt"


pid = os.fork()
if pid == 0:
    in_main = open(name(1), "w")
    in_main.write("in main")
    Deep.kept.append(open(name(2), "wb"))
    Deep.kept[0].write(b"in a class")
    json.log = open(name(3), "w")
    json.log.write("in a module of the library")
    unclosed = tempfile.NamedTemporaryFile("w", dir=".", delete=False, prefix="temporary")
    unclosed.write("temporary")
    wrapped = io.TextIOWrapper(io.BufferedWriter(io.FileIO(name(4), "w")))
    wrapped.write("wrapped")
    print("the child ends")
else:
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    for file in sorted(os.listdir("."), key=len):
        if file.endswith(".txt") or file.startswith("temporary"):
            print(file[:9], open(file).read())
