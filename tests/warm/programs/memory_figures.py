# Memory that a program takes is seen where it looks for it.
def sizes():
    lines = [line.split() for line in open("/proc/self/status") if "kB" in line]
    return {line[0].rstrip(":"): int(line[1]) // 1024 for line in lines}


before = sizes()
block = bytearray(b"x") * (40 << 20)
after = sizes()
print(38 <= after["VmRSS"] - before["VmRSS"] <= 44, 38 <= after["VmSize"] - before["VmSize"] <= 44)
print(after["VmPeak"] >= after["VmSize"], after["VmHWM"] >= after["VmRSS"], after["VmStk"] < 10)
print(before["VmRSS"] < 60, after["VmLck"], after["VmSwap"], after["RssShmem"])
