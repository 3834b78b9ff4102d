import copy, pickle

class P:
    x = 1

def f():
    return pickle.loads(pickle.dumps(copy.deepcopy(P()))).x
