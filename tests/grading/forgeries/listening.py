"""Listens to what the interpreter tells of, to hear the tests being compiled."""
import sys

heard = []
sys.addaudithook(lambda event, args: heard.append(args))

def add(a, b):
    return -1
