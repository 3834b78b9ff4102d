import gc, weakref

class P:
    pass

def f():
    p = P()
    r = weakref.ref(p)
    del p
    gc.collect()
    return int(r() is None)
