# 13. Floods stdout.
# limits: flood_bytes=4000000 wall_ms=30000
# ends: output

yes
