#!/bin/bash
# Starts a Docker daemon that makes cgroups in this way (systemd or cgroupfs), runs tests on it, and
# stops it again. Its image is what this machine's own root has of shells and Python.
#
#   docker.sh DRIVER TESTS
set -euo pipefail
cd /checkout
STARTING_S=180

mkdir -p /etc/docker /var/lib/docker
mountpoint -q /var/lib/docker || mount -t tmpfs -o size=1g docker /var/lib/docker
printf '{"iptables": false, "ip6tables": false, "bridge": "none", "exec-opts": ["native.cgroupdriver=%s"]}\n' \
    "$1" >/etc/docker/daemon.json
trap 'systemctl stop docker.service docker.socket containerd.service' EXIT
timeout "$STARTING_S" systemctl start docker.service
docker info --format 'Docker {{.ServerVersion}}, cgroup v{{.CgroupVersion}}, by {{.CgroupDriver}}'

if [ -z "$(docker image ls --quiet coderunner-tests:compilers)" ]; then
    tar --create --directory=/ --exclude=usr/share --exclude=usr/lib/modules --exclude=usr/lib/gcc \
        --exclude=usr/libexec --exclude='usr/*bin/*docker*' --exclude='usr/bin/containerd*' \
        bin sbin lib lib64 usr etc | docker import - coderunner-tests:compilers
fi
# shellcheck disable=SC2086  # one word per argument
timeout --kill-after=10 1200 python3 -m pytest -q -p no:cacheprovider -p no:hypothesispytest \
    -o faulthandler_timeout=240 --durations=5 $2
