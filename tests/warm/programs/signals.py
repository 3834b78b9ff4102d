# Every disposition as Python and as the kernel see it, and what arrives.
import os
import signal
import sys
import time

for number in sorted(signal.valid_signals()):
    print(int(number), signal.getsignal(number))
print(signal.default_int_handler, signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.sigpending())
for line in open("/proc/self/status"):
    if line.startswith(("Sig", "Shd")) and not line.startswith("SigQ"):
        print(line, end="")
print(signal.getitimer(signal.ITIMER_REAL), signal.set_wakeup_fd(-1))
signal.signal(signal.SIGALRM, lambda number, frame: print("alarm", number, frame.f_code.co_name))
signal.setitimer(signal.ITIMER_REAL, 0.01)
time.sleep(0.1)
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
except KeyboardInterrupt as error:
    print(repr(error))
signal.signal(signal.SIGCHLD, lambda number, frame: print("child"))
if os.fork() == 0:
    os._exit(0)
os.wait()
signal.signal(signal.SIGUSR1, lambda number, frame: sys.exit(7))
os.kill(os.getpid(), signal.SIGUSR1)
