# Python counts its calls. Told not to, it needs memory for them until there is none left.
# limits: memory_mb=64
# ends: memory

import sys

sys.setrecursionlimit(2**31 - 1)


def deeper(depth: int) -> int:
    return deeper(depth + 1) + depth


deeper(0)
