# 3. The classic fork bomb.
# limits: processes=64 wall_ms=20000
# ends: processes
# ends on gvisor: processes | memory

bomb() { bomb | bomb & }
bomb
sleep 15
