#!/usr/bin/env bash
# Boots small virtual machines with cgroup v2 and runs the engine tests in them, on every kind of
# host that guest/all-hosts.sh can play. Fails if a test fails or a machine does.
#
#   scripts/vm/test.sh                                    everything, two machines side by side
#   HOSTS='root user' scripts/vm/test.sh                  some kinds of host, one machine
#   PYTEST='tests/engines -k memory' scripts/vm/test.sh   other tests
#   MINUTES=60 scripts/vm/test.sh                         more patience with a slow machine
#
# Software emulation only: needs no rights, no /dev/kvm, and no network once the image is built.
set -euo pipefail
cd "$(dirname "$0")/../.."
# no_timer_check: on a busy machine the emulated timer may look broken to the kernel, which panics.
KERNEL='root=/dev/vda rw console=ttyS0 quiet panic=-1 no_timer_check systemd.unit=vm-tests.service'
MINUTES=${MINUTES:-30} # then a machine is taken down, whatever it is doing

command -v qemu-system-x86_64 >/dev/null || {
    echo "error: qemu-system-x86_64 is missing" >&2
    echo "hint: apt-get install --no-install-recommends qemu-system-x86" >&2
    exit 2
}
image=$(scripts/vm/build-image.sh)

run=$(mktemp -d "${TMPDIR:-/tmp}/coderunner-vm-XXXXXX")
started=() # process ids of what must not outlive this script
clean_up() {
    [ "${#started[@]}" = 0 ] || kill "${started[@]}" 2>/dev/null || true
    wait
    rm -rf "$run"
}
trap clean_up EXIT

tar --create --file="$run/checkout.tar" --mode=a+rX --exclude-vcs --exclude=./.venv \
    --exclude='.[a-z]*_cache' --exclude=__pycache__ --exclude=.hypothesis .

# Three serial ports: the console, what the tests print, one line for each host.
boot() {
    local name=$1
    {
        printf 'HOSTS=%q\n' "$2"
        [ -z "${PYTEST:-}" ] || printf 'PYTEST=%q\n' "$PYTEST"
    } >"$run/vm-request"
    cp "$run/checkout.tar" "$run/$name.tar"
    tar --append --file="$run/$name.tar" -C "$run" vm-request
    : >"$run/$name.results"
    timeout --kill-after=10 "${MINUTES}m" qemu-system-x86_64 \
        -accel tcg,thread=multi -cpu max -smp 2 -m 3072 \
        -nodefaults -no-user-config -display none -no-reboot \
        -kernel "$image/vmlinuz" -initrd "$image/initrd" \
        -append "$KERNEL" \
        -drive "file=$image/root.ext2,format=raw,if=virtio,snapshot=on" \
        -drive "file=$run/$name.tar,format=raw,if=virtio,readonly=on" \
        -serial "file:$run/$name.console" -serial "file:$run/$name.tests" \
        -serial "file:$run/$name.results" </dev/null &
    started+=("$!")
}

# The lines of one machine's table; fails if a host failed or the machine did not get to its end.
report() {
    local name=$1 host code seconds summary verdict failed=0
    while read -r host code seconds summary; do
        if [ "$host" = done ]; then return "$failed"; fi
        verdict=ok
        if [ "$code" != 0 ]; then verdict=FAILED failed=1; fi
        printf '%-18s %-7s %5s s  %s\n' "$host" "$verdict" "$seconds" "$summary"
    done < <(tr -d '\r' <"$run/$name.results")
    echo "error: machine '$name' ended before its tests did; the last words of its console:" >&2
    tail -n 30 "$run/$name.console" >&2
    return 1
}

if [ -n "${HOSTS:-}" ]; then
    names=(chosen)
    boot chosen "$HOSTS"
else
    names=(root user)
    boot root 'root root-at-top service-delegated refusals'
    boot user 'user user-delegated docker docker-cgroupfs deployed'
fi
echo "booted ${#names[@]}; the hosts as they finish (name, exit status, seconds, tests):" >&2
tail --quiet --follow --lines=+1 --pid="$$" "$run"/*.results >&2 &
machines=("${started[@]}")
started+=("$!")
wait "${machines[@]}" || true # how far they got is in their results

cat "$run"/*.tests
status=0
for name in "${names[@]}"; do report "$name" || status=1; done
exit "$status"
