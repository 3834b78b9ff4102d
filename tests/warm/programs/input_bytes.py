# Bytes, and what no decoder likes.
import select
import sys

print(select.select([sys.stdin], [], [], 5)[0] == [sys.stdin])
print(sys.stdin.buffer.peek()[:4], sys.stdin.buffer.read(4))
print(sys.stdin.buffer.read1(2))
print(ascii(sys.stdin.read()))
print(sys.stdin.buffer.read())
