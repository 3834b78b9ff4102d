# 3. The classic fork bomb.
# limits: processes=64 wall_ms=20000
# ends: processes

bomb() { bomb | bomb & }
bomb
sleep 15
