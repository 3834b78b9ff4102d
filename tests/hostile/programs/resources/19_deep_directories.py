# 19. Fifty thousand directories, each in the one before.
# Made as fifty chains which are then hung into each other, from the last to the first: the kernel
# looks at all directories above a new one, so a single long chain would take minutes.
# limits: files=60000 wall_ms=30000
# ends: exit 0
# says: 50000

import os

CHAINS, LENGTH = 50, 1000


def go_down(steps: int) -> None:
    for _ in range(steps):
        os.chdir("d")


top = os.getcwd()
for chain in range(CHAINS):
    os.chdir(top)
    os.mkdir(f"chain-{chain}")
    os.chdir(f"chain-{chain}")
    for _ in range(LENGTH - 1):
        os.mkdir("d")
        os.chdir("d")
for chain in reversed(range(CHAINS - 1)):
    os.chdir(f"{top}/chain-{chain}")
    go_down(LENGTH - 1)
    os.rename(f"{top}/chain-{chain + 1}", "d")
os.chdir(f"{top}/chain-0")
depth = 1
while os.path.isdir("d"):
    os.chdir("d")
    depth += 1
print(depth)
