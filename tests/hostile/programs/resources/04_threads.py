# Python's are, too.
# limits: processes=64 wall_ms=20000
# ends: processes

import contextlib
import threading
import time

while True:
    with contextlib.suppress(RuntimeError):
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
