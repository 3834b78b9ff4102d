# No attack: 100 MB, and many short children. A child that was vforked shares its parent's memory
# until it runs its own program, and must not count as a second 100 MB.
# limits: memory_mb=160 wall_ms=60000
# ends: exit 0
# says: 1000 children
# ends on gvisor: exit 0 | memory
# may say on gvisor:

import subprocess

treasure = bytearray(b"x") * (100 << 20)
for _ in range(1000):
    subprocess.run(["/bin/true"], check=True)
print("1000 children")
