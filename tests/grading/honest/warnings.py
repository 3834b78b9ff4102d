import warnings

def f():
    warnings.warn('hm', stacklevel=2)
    return 1
