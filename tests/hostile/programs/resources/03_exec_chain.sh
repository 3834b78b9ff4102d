# A program that replaces itself by itself for ever.
# limits: wall_ms=1000
# ends: wall_time

exec bash "$0" "$@"
