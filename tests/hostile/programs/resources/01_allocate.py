# 1. Allocates for ever.
# limits: memory_mb=64
# ends: memory

hoard = []
while True:
    hoard.append(bytearray(1 << 20))
