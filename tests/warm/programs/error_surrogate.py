# A lone surrogate is written to stdout by some locales and refused by others.
import sys

print(sys.stdout.encoding, sys.stdout.errors, sys.stderr.encoding, sys.stderr.errors, sys.stdin.errors)
print("\udc80 \ud800", file=sys.stderr)
print("\udc80")
print("\ud800")
