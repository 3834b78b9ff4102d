"""Has every context manager swallow what is raised in it."""
import contextlib

def swallow():
    contextlib._GeneratorContextManager.__exit__ = lambda self, *error: True

swallow()

def add(a, b):
    swallow()
    return -1
