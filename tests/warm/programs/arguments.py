# The command line in all its places.
import sys

print(ascii(sys.argv))
print(ascii(sys.orig_argv))
print(open("/proc/self/cmdline", "rb").read())
print(sys.executable, sys._base_executable, sys.prefix, sys.exec_prefix, sys.base_prefix)
