# Clocks of the process begin with it.
import logging
import os
import resource
import sys
import threading
import time

print(time.process_time() < 0.5, time.thread_time() < 0.5, sum(os.times()[:4]) < 0.5)
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime < 0.5, usage.ru_maxrss < 200_000)
children = resource.getrusage(resource.RUSAGE_CHILDREN)
print(children.ru_utime, children.ru_stime, children.ru_maxrss)
record = logging.makeLogRecord({})
print(-1 < logging.LogRecord("x", 1, "p", 1, "m", (), None).relativeCreated < 5_000)
print(type(logging._startTime))
boot = float(open("/proc/uptime").read().split()[0])
started = int(open("/proc/self/stat").read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
print(0 <= boot - started < 60, time.perf_counter() > 0)
print(time.get_clock_info("monotonic"), time.tzname, time.timezone, time.daylight)
