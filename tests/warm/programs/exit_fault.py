# A real crash.
import sys

import ctypes
print('lost')
ctypes.string_at(8)
