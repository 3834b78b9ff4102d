import enum

class E(enum.Enum):
    A = 1
F = enum.Enum('F', 'X Y')

def f():
    return F.X.value * E.A.value
