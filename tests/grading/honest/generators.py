def g():
    yield 1

async def h():
    yield 1

def f():
    return next(g())
