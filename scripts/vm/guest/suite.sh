#!/bin/bash
# Runs the engine tests as whoever calls it, wherever that is. The argument is the level of
# isolation that the embedded engine must reach here; reaching another one is a failure.
set -euo pipefail
cd /checkout
echo "uid $(id -u), cgroup $(cat /proc/self/cgroup)"
timeout --kill-after=10 120 python3 scripts/vm/guest/expect_level.py "$1"
# shellcheck disable=SC2086  # one word per argument
exec timeout --kill-after=10 1200 python3 -m pytest -q -p no:cacheprovider -o faulthandler_timeout=240 \
    --durations=5 -m 'engines and not languages' $PYTEST
