# Writing where nobody reads any more: an error, and another one at the end.
import os
import sys

reader, writer = os.pipe()
os.close(reader)
os.dup2(writer, 1)
print("x" * 10)
sys.stdout.flush()
