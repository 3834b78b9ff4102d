from collections import namedtuple
P = namedtuple('P', 'x y')

def f():
    return P(1, 2).x
