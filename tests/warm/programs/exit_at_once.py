# What was buffered is lost.
import sys

import os
print('never written')
sys.stderr.write('written')
os._exit(9)
