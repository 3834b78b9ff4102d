import numpy as np

def f():
    return int(np.linalg.norm(np.array([1.0, 0.0])))
