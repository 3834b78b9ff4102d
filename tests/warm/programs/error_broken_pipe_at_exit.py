# The same found out only when the interpreter ends: its exit code is 120.
import os

reader, writer = os.pipe()
os.close(reader)
os.dup2(writer, 1)
print("x" * 10)
