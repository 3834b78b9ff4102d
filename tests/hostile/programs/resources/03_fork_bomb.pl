# Perl does it in one line.
# limits: processes=64 wall_ms=20000
# ends: processes

fork while 1;
