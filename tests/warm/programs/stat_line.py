# The line of figures in /proc/self/stat, without those that vary.
import ctypes

fields = open("/proc/self/stat").read().rpartition(")")[2].split()
for number in (1, 2, 3, 4, 5, 6, 15, 16, 17, 18, 36, 38, 39):
    print(number, fields[number - 1])
print(ctypes.CDLL(None).prctl(2, ctypes.byref(ctypes.c_int()), 0, 0, 0))  # PR_GET_PDEATHSIG
for option in (3, 7, 8, 14, 16, 21, 23, 27, 30, 37, 39, 42, 49):
    print(option, ctypes.CDLL(None).prctl(option, 0, 0, 0, 0) if option != 16 else "name")
print(ctypes.CDLL(None, use_errno=True) and ctypes.get_errno())
