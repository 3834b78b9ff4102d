#!/usr/bin/env bash
# Runs the tests. As root they run twice, as root and as an ordinary user, since the sandbox takes a
# different way for each; at the same time, since most of them wait most of the time. Arguments are
# pytest's; without any, each of the two takes several files at once.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python

[ $# != 0 ] || set -- --numprocesses=2 --dist=loadgroup

if [ "$(id -u)" != 0 ]; then
    exec "$python" -m pytest "$@"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
env --default-signal=INT scripts/test-as-user.sh "$@" >"$log" 2>&1 &
user=$!
root_failed=0
"$python" -m pytest "$@" || root_failed=$?
user_failed=0
wait "$user" || user_failed=$?
cat "$log"
# Arguments that name tests for one of the two leave the other without any, which pytest calls 5.
no_tests=5
if [ "$root_failed" = "$no_tests" ]; then exit "$user_failed"; fi
if [ "$user_failed" = "$no_tests" ]; then exit "$root_failed"; fi
exit $((root_failed ? root_failed : user_failed))
