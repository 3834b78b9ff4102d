# No input at all.
import sys

print(repr(sys.stdin.read()), sys.stdin.closed, sys.stdin.isatty(), sys.stdin.name)
for line in sys.stdin:
    print(line)
input()
