# 12. Sleeps.
# limits: wall_ms=1000
# ends: wall_time

sleep 3600
