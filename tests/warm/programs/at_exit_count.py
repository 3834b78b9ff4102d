# How many callbacks there are: none at the start, and those of modules when they come.
import atexit

print(atexit._ncallbacks())
import logging

print(atexit._ncallbacks())
import weakref

print(atexit._ncallbacks())
import multiprocessing.util

print(atexit._ncallbacks())
atexit.register(print, "last words")
atexit._run_exitfuncs()
print(atexit._ncallbacks())


class Loud:
    def __del__(self):
        print("gone")


import json

json.kept = Loud()
atexit._clear()
