import functools

@functools.lru_cache(None)
def g(n):
    return n

@functools.singledispatch
def h(n):
    return 0

@h.register
def _(n: int):
    return n

@functools.total_ordering
class P:

    def __lt__(self, o):
        return True

def f():
    return h(g(1))
