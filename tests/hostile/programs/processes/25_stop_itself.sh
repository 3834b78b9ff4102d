# 25. Stops itself.
# limits: wall_ms=1000
# ends: wall_time

kill -STOP $$
