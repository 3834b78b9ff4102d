#!/bin/bash
# Inside the virtual machine, as root under systemd: plays every kind of host in turn and runs the
# tests on it. One line for each goes to the third serial port; the last line there is `done`.
#
# /checkout/vm-request (written by ../test.sh) may choose: HOSTS=... and PYTEST=... .
set -uo pipefail
cd /checkout || exit 1
HOSTS='root root-at-top user user-delegated service-delegated refusals'
PYTEST='tests/engines'
# shellcheck source=/dev/null
. /checkout/vm-request

USER_ID=$(id -u tester)
ENVIRONMENT=(
    PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 CI=true TMPDIR=/tmp
    PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=/tmp/hypothesis "PYTEST=$PYTEST"
)
SUITE=(/checkout/scripts/vm/guest/suite.sh) # wants the level of isolation to expect

as_tester() {
    setpriv --reuid tester --regid tester --init-groups --inh-caps=-all --reset-env \
        env "${ENVIRONMENT[@]}" XDG_RUNTIME_DIR="/run/user/$USER_ID" "$@"
}

# A service of root's, where systemd put it.
on_root() {
    env "${ENVIRONMENT[@]}" "${SUITE[@]}" full
}

# No systemd to speak of: root's process is in the topmost cgroup, the only one that may have both
# processes and children with controllers.
on_root-at-top() {
    (echo "$BASHPID" >/sys/fs/cgroup/cgroup.procs && on_root)
}

# An ordinary user who may make no cgroup.
on_user() {
    as_tester "${SUITE[@]}" sampled
}

# An ordinary user who asks the manager of their session for a cgroup of their own.
on_user-delegated() {
    systemctl start "user@$USER_ID.service" || return
    as_tester systemd-run --user --scope --quiet --property=Delegate=yes "${SUITE[@]}" full
}

# A service of an ordinary user's to which the administrator gave its own cgroup, and no other.
on_service-delegated() {
    local settings=()
    for setting in "${ENVIRONMENT[@]}"; do settings+=("--setenv=$setting"); done
    systemd-run --quiet --pipe --wait --collect --property=User=tester --property=Delegate=yes \
        "${settings[@]}" "${SUITE[@]}" full
}

# Hosts that cannot hold a box: they say so, and what would help.
on_refusals() {
    env "${ENVIRONMENT[@]}" PYTHONPATH=/checkout python3 -m pytest -q -p no:cacheprovider \
        -c /checkout/pyproject.toml /checkout/scripts/vm/guest/refusals.py
}

play() {
    local host=$1 began=$SECONDS status
    echo "=== $host"
    "on_$host" </dev/null 2>&1 | tee "/tmp/$host.log"
    status=${PIPESTATUS[0]}
    echo "$host $status $((SECONDS - began)) $(grep -E '(passed|failed|error).* in ' "/tmp/$host.log" | tail -1)" \
        >/dev/ttyS2
}

for host in $HOSTS; do play "$host"; done
echo done >/dev/ttyS2
