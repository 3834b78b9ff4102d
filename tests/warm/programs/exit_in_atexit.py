# Errors of callbacks are printed, and do not change the code.
import sys

import atexit
atexit.register(print, 'first registered')
atexit.register(sys.exit, 5)
atexit.register(lambda: 1 / 0)
print('end')
