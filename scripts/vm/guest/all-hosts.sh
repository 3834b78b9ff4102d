#!/bin/bash
# Inside the virtual machine, as root under systemd: plays kinds of host in turn and runs the tests
# on each. One line for each goes to the third serial port; the last line there is `done`.
set -uo pipefail
cd /checkout || exit 1
HOSTS='' PYTEST=''
# shellcheck source=/dev/null
. /checkout/vm-request # from ../test.sh: which hosts, maybe which tests

# All that the embedded engine must do; and, where only the place of the cgroup differs, the core.
EVERYTHING=${PYTEST:-tests/engines -k linux}
THE_CORE=${PYTEST:-tests/engines/test_conformance.py -k linux}
# Thirty at once take an emulated machine longer than docker-py has patience.
IN_CONTAINERS='scripts/vm/guest/docker_on_v2.py tests/engines/test_conformance.py -k docker
    --deselect tests/engines/test_conformance.py::test_many_at_once'
SUITE=/checkout/scripts/vm/guest/suite.sh # level to expect, where the boxes must be, tests

USER_ID=$(id -u tester)
ENVIRONMENT=(
    PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 CI=true TMPDIR=/tmp
    PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=/tmp/hypothesis
)

as_root() {
    env "${ENVIRONMENT[@]}" "$@"
}

as_tester() {
    setpriv --reuid tester --regid tester --init-groups --inh-caps=-all --reset-env \
        env "${ENVIRONMENT[@]}" XDG_RUNTIME_DIR="/run/user/$USER_ID" "$@"
}

# A service of root's, where systemd put it.
on_root() {
    as_root "$SUITE" full anywhere "$EVERYTHING"
}

# No systemd to speak of: root's process is in the topmost cgroup, the only one that may have both
# processes and children with controllers.
on_root-at-top() {
    (echo "$BASHPID" >/sys/fs/cgroup/cgroup.procs && as_root "$SUITE" full inside "$THE_CORE")
}

# An ordinary user who may make no cgroup.
on_user() {
    as_tester "$SUITE" sampled anywhere "$EVERYTHING"
}

# An ordinary user who asks the manager of their session for a cgroup of their own.
on_user-delegated() {
    systemctl start "user@$USER_ID.service" &&
        as_tester systemd-run --user --scope --quiet --property=Delegate=yes \
            "$SUITE" full anywhere "$EVERYTHING"
}

# A service of an ordinary user's to which the administrator gave its own cgroup, and no other.
on_service-delegated() {
    systemd-run --quiet --pipe --wait --collect --property=User=tester --property=Delegate=yes \
        "${ENVIRONMENT[@]/#/--setenv=}" "$SUITE" full inside "$THE_CORE"
}

# Docker's containers, where systemd makes their cgroups; and where the daemon does.
on_docker() {
    as_root scripts/vm/guest/docker.sh systemd "${PYTEST:-$IN_CONTAINERS}"
}

on_docker-cgroupfs() {
    as_root scripts/vm/guest/docker.sh cgroupfs "${PYTEST:-scripts/vm/guest/docker_on_v2.py}"
}

# Hosts that lack something: they hold a box all the same, or say what is missing and what helps.
on_refusals() {
    as_root python3 -m pytest -q -p no:cacheprovider scripts/vm/guest/refusals.py
}

# As deploy/ has it: by a unit, in a container.
on_deployed() {
    as_root python3 -m pytest -q -p no:cacheprovider scripts/vm/guest/deployed.py
}

play() {
    local host=$1 log=/tmp/$1.log began=$SECONDS status summary
    echo "=== $host"
    "on_$host" </dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    summary=$(grep -E '(passed|failed|errors?).* in [0-9.]+s' "$log" | tail -n 1)
    echo "$host $status $((SECONDS - began)) ${summary:-no tests were run}" >/dev/ttyS2
}

for host in $HOSTS; do play "$host"; done
echo done >/dev/ttyS2
