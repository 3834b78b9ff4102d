# A daemon that flees: it forks into a new session again and again.
# ends: exit 0
# says: away

import os
import time

if os.fork():
    print("away", flush=True)
    time.sleep(0.3)
    os._exit(0)
while True:
    os.setsid()
    if os.fork():
        os._exit(0)
