# Interrupted by itself, not caught.
import os
import signal

os.kill(os.getpid(), signal.SIGINT)
print("not reached")
