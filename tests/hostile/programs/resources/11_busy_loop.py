# The same, where cpu time is limited.
# limits: cpu_ms=300 wall_ms=30000
# ends: cpu_time

while True:
    pass
