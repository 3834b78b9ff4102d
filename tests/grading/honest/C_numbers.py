import ctypes

def f():
    return ctypes.c_int32(2 ** 32 + 1).value
