# What cannot be written.
import sys

print("before")
sys.stdout.reconfigure(encoding="ascii", errors="strict")
print("gr\u00fc\u00df")
