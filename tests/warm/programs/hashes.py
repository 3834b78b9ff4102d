# Hashes hold within a run, and sets keep their promises. (Their seed: see the known differences.)
import sys

print(sys.flags.hash_randomization, hash("a") == hash("a"), hash(12), hash(1.5), hash((1, 2)))
print(sorted({"a", "b", "c"}), {1, 2, 3}, dict.fromkeys("cab"))
print(hash("a") != hash("b"), sys.hash_info.algorithm)
