# Who writes what when: stdout holds back, stderr does not.
import os
import sys

print("one", end="")
print("two", end="", file=sys.stderr)
sys.stdout.buffer.write(b"raw ")
sys.stdout.flush()
os.write(1, b"direct ")
print("x" * 5000)
os.write(1, b"[after 5000]")
print("y" * 4000, end="")
os.write(1, b"[after 4000]")
sys.stdout.write("z\n" * 3)
os.write(1, b"[after lines]")
sys.stdout.reconfigure(line_buffering=True)
print("line")
os.write(1, b"[after line]")
sys.stdout = open(1, "w", closefd=False, buffering=1)
print("replaced")
print("never a newline", end="")
os.write(1, b"[end]")
