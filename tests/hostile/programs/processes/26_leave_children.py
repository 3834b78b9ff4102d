# 26. Exits while its children burn cpu time. `test_usage.py` looks for it.
# ends: exit 0
# says: four children burnt 100 ms each

import os
import time

reader, writer = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        os.close(1)
        while time.process_time() < 0.1:
            pass
        os.write(writer, b".")
        while True:
            pass
burnt = 0
while burnt < 4:
    burnt += len(os.read(reader, 4))
print("four children burnt 100 ms each")
