# Streams that cannot be flushed at the end change the code, whether or not anybody is told.
import os
import signal
import sys

WAYS = (
    "sys.stderr.write('unflushed')",
    "del sys.unraisablehook; print('unflushed', end='')",
    "sys.unraisablehook = lambda *_: None; print('unflushed', end='')",
    "print('unflushed', end=''); sys.exit(3)",
    "print('unflushed', end=''); 1 / 0",
    "sys.stdout.write('x' * 100_000)",
    "sys.stdout.reconfigure(write_through=True)",
    "sys.stdout.detach()",
    "sys.stderr.close()",
    "os.environ['PYTHONINSPECT'] = '1'; sys.exit(4)",
    "raise KeyboardInterrupt",
    "raise SystemExit(SystemExit(5))",
    "raise type('Exit', (SystemExit,), {})(6)",
    "sys.excepthook = lambda *_: os._exit(7); 1 / 0",
    "sys.exit(-(2**70))",
)
for way in WAYS:
    print(way, flush=True)
    pid = os.fork()
    if pid == 0:
        reader, writer = os.pipe()
        os.close(reader)
        for number in (1, 2):
            os.dup2(writer, number)
        exec(way)
        break
    status = os.waitpid(pid, 0)[1]
    print(os.WIFSIGNALED(status) and signal.Signals(os.WTERMSIG(status)).name, status)
