# Ended by a signal.
import sys

import os
import signal
print('lost')
os.kill(os.getpid(), signal.SIGTERM)
