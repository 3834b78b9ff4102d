import sys
sys.setrecursionlimit(20000)

def g(n):
    return n and g(n - 1)

def f():
    return g(15000) + 1
