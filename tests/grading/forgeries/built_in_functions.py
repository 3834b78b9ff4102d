"""Brings functions that are called as built-in ones are, for its tests to use."""

def add(a, b):
    return -1

def abs(number):
    return 0

def range(*numbers):
    return []
