import multiprocessing

def one(n):
    return n

def f():
    with multiprocessing.get_context('fork').Pool(2) as pool:
        return sum(pool.map(one, [0, 1]))
