import inspect

def g(a, b=1):
    pass

def f():
    inspect.signature(g)
    inspect.getmembers(g)
    inspect.getdoc(g)
    return 1
