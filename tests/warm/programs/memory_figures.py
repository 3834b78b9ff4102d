# Memory that a program takes is seen where it looks for it.
import resource

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
block = bytearray(b"x") * (40 << 20)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(38 <= (after - before) / 1024 <= 60)
sizes = {line.split(":")[0]: line.split()[1] for line in open("/proc/self/status") if "kB" in line}
print(int(sizes["VmRSS"]) > 40 << 10, int(sizes["VmPeak"]) >= int(sizes["VmSize"]) > 40 << 10)
print(int(sizes["VmStk"]) < 10_000, int(sizes["VmLck"]), int(sizes["VmSwap"]))
