# Which descriptors are open, of what kind, and the objects on top of them.
import fcntl
import os
import stat
import sys

for fd in range(1024):
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        continue
    flags = fcntl.fcntl(fd, fcntl.F_GETFL), fcntl.fcntl(fd, fcntl.F_GETFD)
    print(fd, stat.filemode(mode), flags, os.get_inheritable(fd), os.get_blocking(fd))
print(sorted(os.listdir("/proc/self/fd")))
for file in (sys.stdin, sys.stdout, sys.stderr):
    print(file, file.isatty(), file.fileno(), file.seekable(), file.line_buffering, file.write_through)
    print(file.newlines, file.errors, file.buffer, file.buffer.raw, file.buffer.raw.closefd, file.mode)
    print(file.readable(), file.writable(), file._CHUNK_SIZE, file.buffer.raw._blksize)
print(sys.__stdout__ is sys.stdout, open("/dev/null").fileno())
