import dataclasses

@dataclasses.dataclass(order=True)
class P:
    x: int = 1
Q = dataclasses.make_dataclass('Q', ['x'])

def f():
    return Q(P().x).x
