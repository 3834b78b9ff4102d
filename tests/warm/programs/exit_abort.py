# A signal, no dump, no flush.
import sys

import os
print('lost')
os.abort()
