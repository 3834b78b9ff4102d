# 56. Reads from the kernel what it may do: nothing.
# ends: exit 0
# says: CapInh 0000000000000000
# says: CapPrm 0000000000000000
# says: CapEff 0000000000000000
# says: CapBnd 0000000000000000
# says: CapAmb 0000000000000000
# says: NoNewPrivs 1
# says: Seccomp 2
# says: root False
# says: groups True
# says on gvisor: CapInh 0000000000000000
# says on gvisor: CapPrm 0000000000000000
# says on gvisor: CapEff 0000000000000000
# says on gvisor: CapBnd 0000000000000000
# says on gvisor: CapAmb is not told
# says on gvisor: NoNewPrivs is not told
# says on gvisor: Seccomp 0
# says on gvisor: root False
# says on gvisor: groups True
import os

with open("/proc/self/status") as file:
    facts = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"):
    print(name, facts.get(name, "is not told"))
print("root", 0 in (*os.getresuid(), *os.getresgid(), *os.getgroups()))
print("groups", {*os.getgroups()} <= {os.getgid()})
