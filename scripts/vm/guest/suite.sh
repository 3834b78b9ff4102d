#!/bin/bash
# Runs the engine tests as whoever calls it, in whatever cgroup that is.
#
#   suite.sh LEVEL PLACE TESTS     for LEVEL and PLACE see expect_level.py; TESTS go to pytest
set -euo pipefail
cd /checkout
timeout --kill-after=10 120 python3 scripts/vm/guest/expect_level.py "$1" "$2"
# Python 3.11.2 can trip over what Hypothesis's plugin imports when tests have failed.
# shellcheck disable=SC2086  # one word per argument
exec timeout --kill-after=10 1200 python3 -m pytest -q -p no:cacheprovider -p no:hypothesispytest \
    -o faulthandler_timeout=240 --durations=5 -m 'engines and not languages' $3
